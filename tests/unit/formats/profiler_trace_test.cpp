// Reading a profiler's file: what is taken, and what is said of files that are damaged, foreign or hostile.
#include "engine/formats/profiler/profiler_trace.h"

#include <fstream>

#include "engine/formats/profiler/trace_file.h"
#include "engine/formats/profiler/work_names.h"
#include "tests/catch.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;
namespace fs = std::filesystem;

namespace {

std::string error_of(const std::string& text) {
  const auto trace = parse_profiler_trace(text, "t.json");
  return trace ? "" : to_string(trace.error());
}

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string file_error(const fs::path& file) {
  const auto trace = read_profiler_trace(file);
  return trace ? "" : to_string(trace.error());
}

}  // namespace

TEST_CASE("the file's list of events may be the file itself or a member; the rest is passed over") {
  const std::string event = R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1.001,"dur":2,
    "args":{"correlation":5,"nested":{"ts":99,"deep":[[1,{"name":"x"}]]}}})";
  for (const std::string& text :
       {"[" + event + "]", R"({"a":{"traceEvents":[1]},"traceEvents":[)" + event + "]}",
        R"({"traceEvents":[3,"x",null,[],)" + event + R"(],"z":[{"ph":"X"}]})"}) {
    const auto trace = parse_profiler_trace(text, "t.json");
    REQUIRE_OK(trace);
    REQUIRE(trace->events.size() == 1);
    CHECK(trace->events[0].start == Nanoseconds{1001});
    CHECK(trace->events[0].end == Nanoseconds{3001});
    CHECK(trace->events[0].correlation == 5);
    CHECK(trace->names[trace->events[0].name] == "k");
  }
}

TEST_CASE("large times keep their nanoseconds; times that are none leave the event out") {
  const auto trace = parse_profiler_trace(
      R"([{"ph":"X","cat":"cpu_op","name":"a","ts":1763000000000123.457,"dur":0.5,"pid":1,"tid":1},
          {"ph":"X","cat":"cpu_op","name":"b","ts":"soon","dur":1,"pid":1,"tid":1},
          {"ph":"X","cat":"cpu_op","name":"c","ts":1e3,"dur":1,"pid":1,"tid":1},
          {"ph":"X","cat":"cpu_op","name":"d","ts":5,"dur":-1,"pid":1,"tid":1},
          {"ph":"X","cat":"cpu_op","name":"e","ts":5,"pid":1,"tid":1},
          {"ph":"X","cat":"cpu_op","name":"f","ts":99999999999999999999,"dur":1,"pid":1,"tid":1}])",
      "t.json");
  REQUIRE_OK(trace);
  REQUIRE(trace->events.size() == 1);
  CHECK(trace->events[0].start == Nanoseconds{1763000000000123457});
  CHECK(trace->events[0].end == Nanoseconds{1763000000000123957});
}

TEST_CASE("the words of older profilers are known too") {
  const auto trace = parse_profiler_trace(
      R"([{"ph":"X","cat":"Kernel","name":"k","ts":1,"dur":1,"pid":0,"tid":7},
          {"ph":"X","cat":"Memcpy","name":"m","ts":1,"dur":1,"pid":0,"tid":7},
          {"ph":"X","cat":"Runtime","name":"r","ts":1,"dur":1,"pid":1,"tid":1},
          {"ph":"X","cat":"Operator","name":"o","ts":1,"dur":1,"pid":1,"tid":1}])",
      "t.json");
  REQUIRE_OK(trace);
  CHECK(trace->events.size() == 4);
}

TEST_CASE("what is no trace says what it is") {
  CHECK_THAT(error_of(""), contains_text("t.json: is empty"));
  CHECK_THAT(error_of("this is a letter"), contains_text("is no JSON: at byte"));
  CHECK_THAT(error_of(R"({"model_type": "llama"})"), contains_text("is JSON, but no trace"));
  CHECK_THAT(error_of("17"), contains_text("is JSON, but no trace"));
  CHECK_THAT(error_of("[{\"name\": \"\xff\xfe\"}]"), contains_text("is no JSON"));
  CHECK_THAT(error_of(R"([{"ts": 1e999}])"), contains_text("is no JSON"));
}

TEST_CASE("wherever a trace is cut off, it is an error that says so, or a shorter trace of the same events") {
  const std::string whole = bytes_of(data_file("profiler/cuda_rank0.json"));
  const auto all = parse_profiler_trace(whole, "t.json");
  REQUIRE_OK(all);
  for (std::size_t length = 1; length + 2 < whole.size(); length += 97) {
    const std::string error = error_of(whole.substr(0, length));
    INFO(length);
    CHECK_THAT(error, contains_text("t.json: "));
    CHECK_THAT(error, contains_text("ends in the middle"));
  }
}

TEST_CASE("however deep and however changed, a file never crashes the reader") {
  for (const char* bracket : {"[", "{\"a\":", "[{\"args\":["}) {
    std::string deep;
    for (int i = 0; i < 300'000; ++i) deep += bracket;
    CHECK_FALSE(error_of(deep).empty());
    CHECK_FALSE(error_of("{\"traceEvents\":" + deep).empty());
  }
  const std::string whole = bytes_of(data_file("profiler/cuda_rank1.json"));
  std::uint32_t state = 12345;
  for (int round = 0; round < 400; ++round) {
    std::string changed = whole;
    for (int i = 0; i < 3; ++i) {
      state = state * 1664525 + 1013904223;
      changed[state % changed.size()] = static_cast<char>(state >> 24);
    }
    (void)parse_profiler_trace(changed, "t.json");
  }
}

TEST_CASE("a file is read piece by piece, and says what the text as a whole says") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "t.json";
  std::string text = "[";
  for (int i = 0; i < 40'000; ++i)
    text += R"({"ph":"X","cat":"kernel","name":"k)" + std::to_string(i % 7) + R"(","pid":0,"tid":7,"ts":)" +
            std::to_string(i) + R"(.5,"dur":1},)";
  for (const char* const ending : {"{}]", "{}", "{}] x", ""}) {
    INFO(ending);
    std::ofstream(file, std::ios::binary) << text << ending;
    const auto whole = parse_profiler_trace(text + ending, file.string());
    const auto pieces = read_profiler_trace(file);
    REQUIRE(whole.has_value() == pieces.has_value());
    if (!whole) {
      CHECK(whole.error() == pieces.error());
      continue;
    }
    REQUIRE(pieces->events.size() == 40'000);
    CHECK(pieces->events.back().start == whole->events.back().start);
    CHECK(pieces->names == whole->names);
  }
  std::ofstream(file, std::ios::trunc).close();
  CHECK(file_error(file) == error_of("").replace(0, 6, file.string()));
}

TEST_CASE("packed files: whole, cut off, damaged, too long") {
  const TemporaryFolder folder;
  const fs::path packed = data_file("profiler/cpu_two_steps.json.gz");
  const auto trace = read_profiler_trace(packed);
  REQUIRE_OK(trace);
  CHECK(trace->events.size() > 400);
  CHECK_FALSE(trace->memory.empty());
  const std::string bytes = bytes_of(packed);
  const fs::path file = folder.path() / "t.json.gz";
  std::ofstream(file, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  CHECK_THAT(file_error(file), contains_text("ends before its packed content does"));
  std::string damaged = bytes;
  damaged[bytes.size() / 2] = static_cast<char>(damaged[bytes.size() / 2] ^ 0x55);
  std::ofstream(file, std::ios::binary) << damaged;
  CHECK_THAT(file_error(file), contains_text("t.json.gz: "));
  auto too_long = TraceText::open(packed, 1000);
  REQUIRE_OK(too_long);
  CHECK(too_long->next().empty());
  REQUIRE(too_long->error());
  CHECK_THAT(to_string(*too_long->error()), contains_text("holds more than 1000 B"));
  CHECK_THAT(file_error(folder.path()), contains_text("is a folder"));
  CHECK_THAT(file_error(folder.path() / "none.json"), contains_text("no such file"));
}

TEST_CASE("names: kernels, collectives, phases, steps") {
  CHECK(short_name("void at::native::reduce_kernel<512, 1, float>(int)") == "at::native::reduce_kernel");
  CHECK(short_name("autograd::engine::evaluate_function: AddmmBackward0") == "AddmmBackward0");
  CHECK(short_name("Memcpy HtoD (Pinned -> Device)") == "Memcpy_HtoD");
  CHECK(short_name("<lambda>") == "<lambda>");
  CHECK(short_name("") == "unnamed");
  CHECK(short_name("a\nb\tc") == "a_b_c");
  using K = InstructionKind;
  CHECK(collective_kind("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)") == K::AllReduce);
  CHECK(collective_kind("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)") == K::ReduceScatter);
  CHECK(collective_kind("ncclDevKernel_Reduce_Sum_f32_TREE_LL(x)") == K::Reduce);
  CHECK(collective_kind("ncclDevKernel_SendRecv(x)") == K::AllToAll);
  CHECK(collective_kind("gloo:all_gather") == K::AllGather);
  CHECK_FALSE(collective_kind("at::native::reduce_kernel"));
  CHECK_FALSE(collective_kind("aten::broadcast_tensors"));
  CHECK(phase_of_name("Optimizer.step#AdamW.step") == K::OptimizerStep);
  CHECK_FALSE(phase_of_name("aten::add"));
  CHECK(step_number("ProfilerStep#12") == 12);
  CHECK_FALSE(step_number("ProfilerStep#"));
  CHECK_FALSE(step_number("ProfilerStep#1x"));
  CHECK(full_side({"_allgather_base", "BFloat16", 512, 1024, 2}) == Bytes{2048});
  CHECK(full_side({"x", "Mystery", 512, 1024, 2}) == Bytes{0});
  CHECK(full_side({"x", "Float", std::int64_t{1} << 62, 0, 2}) == Bytes{0});
}
