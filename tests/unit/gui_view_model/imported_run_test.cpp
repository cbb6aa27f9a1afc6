// A profiler's trace is shown like every other run: lanes, waits, memory, and a comparison that says what
// does not correspond.
#include "engine/formats/profiler/import_profile.h"

#include "gui/view_model/memory/memory_track.h"
#include "gui/view_model/run_comparison.h"
#include "gui/view_model/timeline/timeline_track.h"
#include "gui/view_model/why.h"
#include "tests/catch.h"
#include "tests/unit/gui_view_model/real_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

LoadedRunPtr imported_run() {
  auto profile =
      import_profiles({data_file("profiler/cuda_rank0.json"), data_file("profiler/cuda_rank1.json")});
  REQUIRE_OK(profile);
  LoadedRun run;
  run.id = RunId{7};
  run.record.name = profile->name;
  auto summary = summarize_recorded(profile->plan.steady, profile->trace, profile->memory_limit);
  REQUIRE_OK(summary);
  run.record.summary = *std::move(summary);
  run.record.plan = std::move(profile->plan);
  run.record.trace = std::move(profile->trace);
  return std::make_shared<const LoadedRun>(std::move(run));
}

}  // namespace

TEST_CASE("an imported run's streams are lanes with arrows for the waits that were inferred") {
  const LoadedRunPtr run = imported_run();
  const RankTrace& rank = *rank_of(*typical_step(*run), 0);
  const TimelineTrack track = make_track("t", run->kind(), run->plan(), run->words(), rank);
  REQUIRE(track.lanes.size() == 4);
  CHECK(track.lanes[0].name == "stream_7");
  CHECK(track.lanes[0].spans.size() == 4);
  CHECK(track.lanes[1].name == "stream_20");
  CHECK(track.lanes[2].issues);
  CHECK(track.lanes[3].name == "host waits");
  CHECK(track.exposed.size() == 2);
  const auto arrows = wait_arrows(run->plan(), track, InstructionId{2});
  REQUIRE(arrows.size() == 1);
  CHECK(arrows[0].from == InstructionId{1});
  CHECK(place_of(run->plan(), InstructionId{2}) == "aten::addmm");
  const MemoryTrack memory =
      make_memory_track("m", run->kind(), run->plan(), rank, Bytes{1}, MemoryClock::device);
  CHECK(memory.peaks[*memory.peak] == 8000);
  CHECK_FALSE(begins_unknown(run->record.trace.provenance));  // a device's allocator knows all of it
  Provenance of_host = run->record.trace.provenance;
  of_host.leaves_out.emplace_back(k_memory_before);
  CHECK(begins_unknown(of_host));
}

TEST_CASE("beside a prediction the times by kind stand, and it is said that instructions do not correspond") {
  const RealRuns real = real_runs();
  const LoadedRunPtr imported = imported_run();
  const RunComparison comparison = compare_runs({real.predicted, imported}, 1);
  CHECK_THAT(comparison.note, contains_text("a profiler's trace has kernels"));
  CHECK(comparison.points.empty());
  CHECK(comparison.worst.rows.empty());
  const auto row = [](const DataTable& table, const std::string& name) -> const Row& {
    for (const Row& each : table.rows)
      if (each.cells[0].text == name) return each;
    FAIL("no row " << name);
    return table.rows.front();
  };
  CHECK(*row(comparison.kinds, "AllGather").cells[2].number == Approx(77'500).epsilon(0.05));
  CHECK(row(comparison.kinds, "Backward").cells[1].number);
  const Row& tokens = row(comparison.totals, "tokens per second");
  CHECK(tokens.cells[1].number);
  CHECK_FALSE(tokens.cells[2].number);  // nobody knows them
  CHECK_FALSE(tokens.cells[3].number);
  CHECK(why_time(*imported, InstructionId{2}).value != "did not run");
}

TEST_CASE("two traces of one program compare instruction by instruction") {
  const RunComparison comparison = compare_runs({imported_run(), imported_run()}, 0);
  CHECK(comparison.note.empty());
  CHECK(comparison.points.size() == 6);  // all but the host's wait
}
