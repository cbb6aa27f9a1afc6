// How long a window waits for a large database: 1,000 runs with 5 million spans are stored, then opened,
// listed and looked into. Prints figures; fails when opening and listing takes two seconds or more. An
// argument makes it smaller: the number of runs.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "engine/store/run_store.h"
#include "tests/many_spans_record.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

constexpr double k_limit_seconds = 2;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename T>
T must(Result<T> result) {
  if (!result) {
    fmt::print("{}\n", to_string(result.error()));
    std::exit(1);
  }
  return *std::move(result);
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 1000;
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("shardlab-large-database-{}.db", getpid());
  const RunRecord record = many_spans_record();
  auto start = std::chrono::steady_clock::now();
  {
    RunStore store = must(RunStore::open(file, OpenMode::create));
    for (int i = 0; i < runs; ++i) must(store.save(record));
  }
  const double spans = static_cast<double>(runs) * k_many_spans_steps * k_many_spans_instructions;
  const double saving = seconds_since(start);
  fmt::print("saved {} runs, {:.1f} million spans in {:.1f} s, {:.0f} MB, {:.0f} spans/s\n", runs,
             spans / 1e6, saving, static_cast<double>(std::filesystem::file_size(file)) / 1e6,
             spans / saving);

  start = std::chrono::steady_clock::now();
  const RunStore store = must(RunStore::open(file, OpenMode::existing));
  const auto entries = must(store.list());
  const double opening = seconds_since(start);
  start = std::chrono::steady_clock::now();
  const RunId last = entries.front().id;
  must(store.load_summary(last));
  must(store.load_step(last, must(store.steps(last)).front().step));
  const double looking = seconds_since(start);
  start = std::chrono::steady_clock::now();
  must(store.load(last));
  fmt::print("open and list {:.3f} s, one step of a run {:.3f} s, a whole run {:.3f} s\n", opening, looking,
             seconds_since(start));
  std::filesystem::remove(file);
  return opening < k_limit_seconds && entries.size() == static_cast<std::size_t>(runs) ? 0 : 1;
}
