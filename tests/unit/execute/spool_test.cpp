#include "engine/execute/spool.h"

#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "engine/execute/progress_tail.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

const char* const k_file = "rank-1.spool";

SpoolHeader example_header() {
  return {1, 2, "abc", "host boot", "a processor", {{"torch", "2.11.0"}}, 5};
}

SpoolStep example_step(std::int64_t index) {
  SpoolStep step;
  step.step = index;
  step.aligned = {1'000'000'000'000};
  step.began = {1'000'000'000'500};
  step.mean_loss = 2.5;
  step.trace.rank = 1;
  step.trace.duration = {777};
  step.trace.loss = 0.1 + 0.2;
  step.trace.spans = {{InstructionId{0}, {1}, {2}, {3}, {4}, false},
                      {InstructionId{1}, {5}, {6}, {7}, {8}, true}};
  MemorySample sample{InstructionId{1}, {100}, {300}, {}, {}};
  sample.by_class[2] = {100};
  sample.elsewhere[1] = {50};
  sample.peak_elsewhere[1] = {60};
  sample.by_class_at_peak[13] = {200};
  step.trace.memory = {sample};
  return step;
}

SpoolEnd example_end() {
  SpoolEnd end{{4096}, DeviceMemory{}};
  end.device_memory->reserved = {1 << 30};
  end.device_memory->context = {500 << 20};
  end.device_memory->retries = 2;
  end.operators = {{"linear", false, 43, {54'600'000}}, {"linear", true, 43, {121'000'000}}};
  return end;
}

OutOfMemory example_out_of_memory() {
  OutOfMemory out{1,
                  4,
                  InstructionId{37},
                  "37 Forward s3",
                  {1024},
                  {1 << 20},
                  {},
                  {2 << 20},
                  "tried to allocate \"1 KiB\""};
  out.by_class[2] = {1 << 19};
  out.by_class[13] = {1 << 19};
  return out;
}

void write_example(const fs::path& path, std::int64_t steps) {
  auto writer = SpoolWriter::create(path);
  REQUIRE(writer);
  REQUIRE(writer->write(example_header()));
  for (std::int64_t i = 0; i < steps; ++i) REQUIRE(writer->write(example_step(i)));
}

TEST_CASE("what is written is read back") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / k_file;
  {
    auto writer = SpoolWriter::create(path);
    REQUIRE(writer);
    REQUIRE(writer->write(example_header()));
    REQUIRE(writer->write(example_step(0)));
    REQUIRE(writer->write(example_end()));
    REQUIRE(writer->write(example_out_of_memory()));
    REQUIRE(writer->write(Error{ErrorKind::run_failed, on_rank(1, "step 2, 3 AllGather u0"),
                                "gone\n\"quoted\" \xff", "hint", ErrorCode::failed_in_step}));
  }
  const auto spool = read_spool(path);
  REQUIRE(spool);
  CHECK(spool->header == example_header());
  REQUIRE(spool->steps.size() == 1);
  CHECK(spool->steps[0] == example_step(0));
  CHECK(spool->end == example_end());
  CHECK(spool->out_of_memory == example_out_of_memory());
  REQUIRE(spool->error);
  CHECK(spool->error->kind == ErrorKind::run_failed);
  CHECK(spool->error->code == ErrorCode::failed_in_step);
  CHECK(spool->error->place == on_rank(1, "step 2, 3 AllGather u0"));
  CHECK_THAT(spool->error->what, test::contains_text("gone\n\"quoted\""));
  CHECK_FALSE(spool->truncated);
}

TEST_CASE("a loss that is not finite survives") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / k_file;
  {
    auto writer = SpoolWriter::create(path);
    SpoolStep step = example_step(0);
    step.mean_loss = std::nan("");
    step.trace.loss = -INFINITY;
    step.trace.gradient_norm = std::nullopt;
    REQUIRE(writer->write(step));
  }
  const auto spool = read_spool(path);
  REQUIRE(spool);
  CHECK(std::isnan(*spool->steps.at(0).mean_loss));
  CHECK(*spool->steps.at(0).trace.loss == -INFINITY);
  CHECK_FALSE(spool->steps.at(0).trace.gradient_norm);
}

TEST_CASE("a cut-off last line is left out and said") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / k_file;
  write_example(path, 3);
  const auto bytes = fs::file_size(path);
  for (const std::uintmax_t cut : {1U, 10U, 150U}) {
    write_example(path, 3);
    fs::resize_file(path, bytes - cut);
    const auto spool = read_spool(path);
    REQUIRE(spool);
    CHECK(spool->truncated);
    CHECK(spool->steps.size() == 2);
    CHECK_FALSE(spool->end);
  }
}

TEST_CASE("a damaged line before the last is an error with its number") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / k_file;
  write_example(path, 1);
  std::ofstream(path, std::ios::app) << "{\"record\":\"step\"}\n{}\n";
  const auto spool = read_spool(path);
  REQUIRE_FALSE(spool);
  CHECK(spool.error().kind == ErrorKind::bad_input);
  CHECK(where_text(spool.error()) == path.string() + ":3");
}

TEST_CASE("a line whose numbers do not fit, or that is nested deeply, is damaged") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / k_file;
  write_example(path, 1);
  std::string step;
  {
    std::ifstream lines(path);
    std::getline(lines, step), std::getline(lines, step);
  }
  const auto is_damaged = [&](const std::string& from, const std::string& to) {
    std::string line = step;
    REQUIRE(line.find(from) != std::string::npos);
    std::ofstream(path) << line.replace(line.find(from), from.size(), to) << '\n';
    return !read_spool(path);
  };
  CHECK_FALSE(is_damaged("777", "778"));
  CHECK(is_damaged("777", "1e300"));
  CHECK(is_damaged("777", "9223372036854775808"));
  CHECK(is_damaged("\"rank\":1", "\"rank\":4294967297"));
  CHECK(is_damaged("\"mean_loss\":2.5", "\"mean_loss\":\"much\""));
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  std::ofstream(path) << R"({"record":"error","error":)" << deep << "}\n";
  CHECK_FALSE(read_spool(path));
}

TEST_CASE("a spool that is not there is an error") {
  const auto spool = read_spool("/nowhere/rank-0.spool");
  REQUIRE_FALSE(spool);
  CHECK(where_text(spool.error()) == "/nowhere/rank-0.spool");
}

TEST_CASE("a spool that is no file is neither waited for nor read without end") {
  const test::TemporaryFolder folder;
  REQUIRE(::mkfifo((folder.path() / "pipe.spool").c_str(), 0600) == 0);
  CHECK(read_spool(folder.path() / "pipe.spool").error().what == "is a pipe, not a record of a rank");
  fs::create_symlink("/dev/zero", folder.path() / "zero.spool");
  CHECK(read_spool(folder.path() / "zero.spool").error().what == "is a device, not a record of a rank");
  fs::create_symlink("/proc/self/mem", folder.path() / "memory.spool");
  CHECK(read_spool(folder.path() / "memory.spool").error().kind == ErrorKind::not_possible);
  const fs::path sparse = folder.path() / "sparse.spool";
  write_example(sparse, 1);
  fs::resize_file(sparse, std::uintmax_t{1} << 40);  // without blocks behind it
  CHECK_FALSE(read_spool(sparse));
}

TEST_CASE("a full disk is an error, not a crash") {
  auto writer = SpoolWriter::create("/dev/full");
  REQUIRE(writer);
  const Status written = writer->write(example_header());
  REQUIRE_FALSE(written);
  CHECK(written.error().kind == ErrorKind::run_failed);
  CHECK(written.error().what.find("No space left") != std::string::npos);
}

TEST_CASE("progress follows a growing spool") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / k_file;
  ProgressTail tail(path);
  CHECK_FALSE(tail.read());
  auto writer = SpoolWriter::create(path);
  REQUIRE(writer);
  REQUIRE(writer->write(example_header()));
  auto progress = tail.read();
  REQUIRE(progress);
  CHECK(progress->steps == 5);
  CHECK(progress->steps_done == 0);
  CHECK_FALSE(tail.read());
  REQUIRE(writer->write(example_step(0)));
  REQUIRE(writer->write(example_step(1)));
  progress = tail.read();
  REQUIRE(progress);
  CHECK(progress->steps_done == 2);
  CHECK(progress->loss == 2.5);
}

}  // namespace
}  // namespace shardlab
