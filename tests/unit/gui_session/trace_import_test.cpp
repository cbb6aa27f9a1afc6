#include "gui/session/trace_import.h"

#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "tests/catch.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::gui;
using namespace shardlab::test;
namespace fs = std::filesystem;

namespace {

// A shardlab that does what the test wants, and writes down what it was asked.
fs::path fake_program(const TemporaryFolder& folder, const std::string& script) {
  const fs::path program = folder.path() / "shardlab";
  std::ofstream(program) << "#!/bin/sh\necho \"$@\" > " << (folder.path() / "asked").string() << "\n"
                         << script;
  fs::permissions(program, fs::perms::owner_all);
  return program;
}

Result<RunId> outcome_of(TraceImport import) {
  for (int i = 0; i < 1000; ++i) {
    if (auto done = import.poll()) return *std::move(done);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return run_failed("test", "it does not end");
}

}  // namespace

TEST_CASE("a trace is known by its first bytes, not by its name") {
  const TemporaryFolder folder;
  const auto file = [&](const char* name, const std::string& content) {
    std::ofstream(folder.path() / name, std::ios::binary) << content;
    return folder.path() / name;
  };
  CHECK(looks_like_trace(data_file("profiler/cuda_rank0.json")));
  CHECK(looks_like_trace(data_file("profiler/cpu_two_steps.json.gz")));
  CHECK(looks_like_trace(file("list.json", R"([{"ph": "X"}])")));
  CHECK_FALSE(looks_like_trace(file("config.json", R"({"model_type": "llama"})")));
  CHECK_FALSE(looks_like_trace(file("empty.json", "")));
  CHECK_FALSE(looks_like_trace(folder.path() / "none.json"));
  CHECK_FALSE(looks_like_trace(folder.path()));
  REQUIRE(::mkfifo((folder.path() / "pipe.json").c_str(), 0600) == 0);
  CHECK_FALSE(looks_like_trace(folder.path() / "pipe.json"));
}

TEST_CASE("the ranks' files go to one command, which tells the run") {
  const TemporaryFolder folder;
  const fs::path program = fake_program(
      folder, R"(echo '{"event":"stored","run_id":"r5","kind":"measured","plan_hash":"x"}' >&2)");
  auto import = TraceImport::start({"a.json", "b.json"}, "/tmp/some.db", program);
  REQUIRE_OK(import);
  CHECK(import->title() == "a.json and 1 more");
  const auto run = outcome_of(*std::move(import));
  REQUIRE_OK(run);
  CHECK(*run == RunId{5});
  std::string asked;
  std::getline(std::ifstream(folder.path() / "asked"), asked);
  CHECK(asked == "import a.json b.json --db /tmp/some.db --progress json");
}

TEST_CASE("a command that fails, that is killed, that says nothing, that is not there") {
  const TemporaryFolder folder;
  const auto error_of = [&](const std::string& script) {
    auto import = TraceImport::start({"a.json"}, {}, fake_program(folder, script));
    REQUIRE_OK(import);
    const auto run = outcome_of(*std::move(import));
    REQUIRE_FALSE(run);
    return to_string(run.error());
  };
  CHECK_THAT(error_of("echo it is no trace; exit 2\n"), contains_text("it is no trace"));
  CHECK_THAT(error_of("kill -9 $$\n"), contains_text("record fewer steps"));
  CHECK_THAT(error_of("exit 0\n"), contains_text("ended without a run"));
  CHECK_FALSE(TraceImport::start({"a.json"}, {}, "/no/such/program"));
}
