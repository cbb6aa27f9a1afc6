// How long the window waits for a large database, and whether a frame ever does: 1,000 runs with 5 million
// spans are stored, then read as the window reads them while frames poll. Prints figures against the targets;
// fails when the runs do not arrive. An argument makes it smaller: the number of runs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "engine/store/run_store.h"
#include "gui/view_model/run_list.h"
#include "gui/view_model/store_reader.h"
#include "tests/many_spans_record.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

constexpr double k_target_seconds = 2;
constexpr double k_target_frame_ms = 16;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool store_runs(const std::filesystem::path& file, int runs) {
  const RunRecord record = many_spans_record();
  auto store = RunStore::open(file, OpenMode::create);
  for (int i = 0; store && i < runs; ++i) {
    if (const auto id = store->save(record); !id) {
      fmt::print("{}\n", to_string(id.error()));
      return false;
    }
  }
  return store.has_value();
}

// Polls as frames do until `condition`; the longest poll in milliseconds.
template <typename Condition>
double poll_until(StoreReader& reader, Condition condition) {
  double longest = 0;
  const auto begin = Clock::now();
  while (!condition() && seconds_since(begin) < 60) {
    const auto start = Clock::now();
    reader.poll();
    longest = std::max(longest, seconds_since(start) * 1e3);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return longest;
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 1000;
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("shardlab-window-database-{}.db", getpid());
  if (!store_runs(file, runs)) return 1;

  auto start = Clock::now();
  StoreReader reader(file);
  double longest = poll_until(reader, [&] { return reader.view().read; });
  const double listed = seconds_since(start);
  start = Clock::now();
  const DataTable table = run_table(*reader.view().runs, {});
  const auto trend = error_trend(*reader.view().runs, {});
  const double shown = seconds_since(start) * 1e3;

  start = Clock::now();
  const RunId last = reader.view().runs->empty() ? RunId{1} : reader.view().runs->front().id;
  reader.load(last);
  longest = std::max(longest, poll_until(reader, [&] { return reader.view().loaded.count(last) == 1; }));
  fmt::print(
      "{} runs, {:.1f} million spans: list after {:.3f} s (target {} s), table of {} rows and trend of {} in "
      "{:.1f} ms, a whole run after {:.3f} s\n",
      runs, runs * 1e-6 * k_many_spans_steps * k_many_spans_instructions, listed, k_target_seconds,
      table.rows.size(), trend.size(), shown, seconds_since(start));
  fmt::print("longest poll of a frame meanwhile {:.3f} ms (target {} ms)\n", longest, k_target_frame_ms);
  std::filesystem::remove(file);
  return table.rows.size() == static_cast<std::size_t>(runs) && reader.view().loaded.count(last) == 1 ? 0 : 1;
}
