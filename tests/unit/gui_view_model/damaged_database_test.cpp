// A database in which single bytes are wrong, as a bad disk or an interrupted copy leaves it: whatever is
// read from it is refused in words or can be shown.
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "engine/store/run_store.h"
#include "gui/view_model/baseline.h"
#include "gui/view_model/memory/alive_table.h"
#include "gui/view_model/memory/fit_view.h"
#include "gui/view_model/memory/memory_track.h"
#include "gui/view_model/memory/space_tables.h"
#include "gui/view_model/run_comparison.h"
#include "gui/view_model/run_list.h"
#include "gui/view_model/timeline/compute_gaps.h"
#include "gui/view_model/timeline/jumps.h"
#include "gui/view_model/why.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/gui_view_model/loaded_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;
namespace fs = std::filesystem;

namespace {

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void explain_all(const DataTable& table) {
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    for (std::size_t column = 0; column < table.columns.size(); ++column) (void)why_cell(table, row, column);
}

// Everything that panels make of a run.
void show(const LoadedRunPtr& run, const LoadedRunPtr& other) {
  StackedMemory scratch;
  if (const StepTrace* const step = typical_step(*run)) {
    for (const RankTrace& rank : step->ranks) {
      const TimelineTrack timeline = make_track("t", run->kind(), run->plan(), run->words(), rank);
      for (std::size_t i = 0; i < run->plan().instructions.size(); ++i) {
        const auto id = make_id<InstructionId>(i);
        (void)wait_arrows(run->plan(), timeline, id);
        (void)why_time(*run, id);
        (void)place_of(run->plan(), id);
        (void)label_of(*run, id);
        (void)run->words().brief(id);
      }
      for (const Nanoseconds time : {Nanoseconds{0}, timeline.end / 2, timeline.end - Nanoseconds{1}})
        if (const auto gap = gap_at(*run, timeline, *step, rank, time)) (void)to_words(*gap, *run);
      for (const JumpKind kind : {JumpKind::exposed, JumpKind::layer, JumpKind::micro_batch})
        (void)jump_places(*run, timeline, {kind, 0});
      for (const MemoryClock clock : {MemoryClock::host, MemoryClock::device}) {
        const MemoryTrack memory = make_memory_track("m", run->kind(), run->plan(), rank, Bytes{100}, clock);
        stack_memory(memory, {0, static_cast<double>(memory.end.value), 800}, 1.5, scratch);
        for (const MemorySample& sample : memory.samples) (void)why_memory(*run, sample);
      }
    }
  }
  const auto lives = buffer_lives(run->plan());
  for (const AliveForm form : {AliveForm::added_up, AliveForm::single})
    explain_all(alive_table(run, lives, {}, form));
  explain_all(spaces_table(*run));
  explain_all(transfers_table(*run));
  explain_all(baseline_table(*run, *other));
  if (const auto fit = make_fit_view(*run)) explain_all(fit_table(*fit, true));
  const RunComparison comparison = compare_runs({run, other}, 0);
  for (const DataTable* table :
       {&comparison.totals, &comparison.classes, &comparison.kinds, &comparison.units, &comparison.worst})
    explain_all(*table);
}

}  // namespace

TEST_CASE("a database with wrong bytes is refused in words, or what it says can be shown") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db", damaged = folder.path() / "damaged.db";
  {
    RunStore store = RunStore::open(file, OpenMode::create).value();
    REQUIRE_OK(store.save(hand_made_record("a", RunKind::predicted)));
    REQUIRE_OK(store.save(hand_made_record("b")));
  }
  const std::string sound = bytes_of(file);
  const LoadedRunPtr other = shared_run(loaded_run(9, RunKind::measured));
  std::mt19937 random(20240607);  // NOLINT: the same bytes in every run
  constexpr int k_damages = 300;
  int refused = 0, shown = 0;
  for (int i = 0; i < k_damages; ++i) {
    std::string bytes = sound;
    for (unsigned n = 1 + random() % 8; n > 0; --n)
      bytes[100 + random() % (bytes.size() - 100)] = static_cast<char>(random());
    std::ofstream(damaged, std::ios::binary) << bytes;
    const auto store = RunStore::open(damaged, OpenMode::existing);
    const auto list = store ? store->list() : Result<std::vector<RunEntry>>(fail(store.error()));
    if (!list) {
      CHECK_FALSE(list.error().what.empty());
      ++refused;
      continue;
    }
    (void)run_table(*list, {});
    (void)error_trend(*list, {});
    for (const RunEntry& entry : *list) {
      auto record = store->load(entry.id);
      if (!record) {
        CHECK_FALSE(record.error().what.empty());
        ++refused;
        continue;
      }
      show(shared_run({entry.id, *std::move(record)}), other);
      ++shown;
    }
  }
  CHECK(refused > 20);
  CHECK(shown > 20);
}
