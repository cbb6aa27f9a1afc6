// The processor's time for a frame of the whole window while timeline and memory show 100,000 spans and
// 50,000 memory samples: layout, widgets, draw lists; not the graphics card. Prints figures against the
// target; fails when the panels did not show the run.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

#include "engine/store/run_store.h"
#include "gui/session/session.h"
#include "gui/shell/headless.h"
#include "gui/shell/panel_list.h"
#include "tests/hand_made_record.h"
#include "tests/long_step.h"

using namespace shardlab;
using namespace shardlab::gui;
using namespace shardlab::test;

namespace {

constexpr std::uint32_t k_spans_a_run = 50'000;
constexpr double k_target_ms = 16;

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Two runs of 50,000 spans each; the first has the memory samples.
bool store_runs(const std::filesystem::path& file) {
  RunRecord run = hand_made_record("long", RunKind::measured, 1);
  run.plan.steady = long_step_plan(k_spans_a_run);
  run.trace.warmup.clear();
  run.trace.steps.resize(1);
  run.trace.steps[0].plan_hash = run.summary.plan_hash = plan_hash(run.plan.steady);
  run.trace.steps[0].ranks = {long_step_rank(k_spans_a_run)};
  run.summary.memory = summarize_memory(run.plan.steady, run.trace.steps);
  auto store = RunStore::open(file, OpenMode::create);
  if (!store) return false;
  const auto first = store->save(run);
  run.trace.steps[0].ranks[0].memory.clear();
  const auto second = store->save(run);
  if (!first) fmt::print("{}\n", to_string(first.error()));
  return first && second;
}

void report(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  fmt::print("{:<24} {:.2f} ms median, {:.2f} ms worst of {} frames (target {} ms)\n", what,
             times[times.size() / 2], times.back(), times.size(), k_target_ms);
}

std::vector<double> frames(Headless& headless, Session& session, int count) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto start = Clock::now();
    headless.frame(session);
    times.push_back(milliseconds_since(start));
  }
  return times;
}

}  // namespace

int main() {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("shardlab-whole-frame-{}.db", getpid());
  if (!store_runs(file)) return 1;
  Session session;
  session.use_database(file);
  session.selection().choose_runs({RunId{1}, RunId{2}});
  session.settle();
  bool shown = session.shown_runs().size() == 2;
  Headless headless({1920, 1080}, 1);
  Shell shell(session, make_panels(), headless.fonts(),
              {.only_panel = {}, .remembers = false, .preferences_file = {}});
  headless.show(shell);
  frames(headless, session, 10);
  shell.show_panel("timeline");
  shell.show_panel("memory");
  frames(headless, session, 10);
  report("whole step", frames(headless, session, 100));

  const std::int64_t end = 4000LL * k_spans_a_run;
  std::vector<double> times;
  for (int i = 0; i < 100; ++i) {  // another part each frame: nothing can be kept from the frame before
    const std::int64_t begin = end / 200 * i;
    session.selection().show_time(TimeRange{Nanoseconds{begin}, Nanoseconds{begin + end / 4}});
    times.push_back(frames(headless, session, 1).front());
  }
  report("panning over a quarter", times);
  session.selection().choose(
      SelectedInstruction{session.shown_runs().front()->record.summary.plan_hash, InstructionId{25'000}});
  report("with a chosen instruction", frames(headless, session, 100));
  // Thousands of spans are thousands of rectangles.
  shown = shown && ImGui::GetDrawData()->TotalVtxCount > 20'000;
  fmt::print("{} vertices\n", ImGui::GetDrawData()->TotalVtxCount);
  std::filesystem::remove(file);
  return shown ? 0 : 1;
}
