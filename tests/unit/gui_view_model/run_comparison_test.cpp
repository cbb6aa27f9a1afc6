#include "gui/view_model/run_comparison.h"

#include "gui/view_model/instruction_figures.h"
#include "tests/catch.h"
#include "tests/unit/gui_view_model/loaded_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

const Row* row_named(const DataTable& table, const std::string& name) {
  for (const Row& row : table.rows) {
    if (row.cells.front().text == name) return &row;
  }
  return nullptr;
}

std::vector<LoadedRunPtr> predicted_and_measured(std::int64_t percent) {
  return {shared_run(loaded_run(1, RunKind::predicted, percent)),
          shared_run(loaded_run(2, RunKind::measured))};
}

}  // namespace

TEST_CASE("the reference is the first measured run, or the baseline") {
  CHECK(choose_reference(predicted_and_measured(100)) == 1);
  CHECK(choose_reference({shared_run(loaded_run(1, RunKind::predicted))}) == 0);
  LoadedRun baseline = loaded_run(2, RunKind::predicted);
  baseline.role = "baseline";
  CHECK(choose_reference({shared_run(loaded_run(1, RunKind::predicted)), shared_run(std::move(baseline))}) ==
        1);
}

TEST_CASE("totals, classes, kinds and units have a column a run and the error against the reference") {
  const RunComparison comparison = compare_runs(predicted_and_measured(80), 1);
  CHECK(comparison.titles == std::vector<std::string>{"r1 tiny fsdp2, predicted", "r2 tiny fsdp2, measured"});
  CHECK(comparison.note.empty());

  const Row* step = row_named(comparison.totals, "step time");
  REQUIRE(step);
  REQUIRE(step->cells.size() == 4);
  CHECK(step->cells[1].number == 408);
  CHECK(step->cells[2].number == 510);
  CHECK(*step->cells[3].number == Approx(-0.2));

  const Row* workspace = row_named(comparison.classes, "workspace");
  REQUIRE(workspace);
  CHECK(workspace->cells[1].number == 80);
  CHECK(workspace->cells[3].number == 0);

  const Row* gather = row_named(comparison.kinds, "AllGather");
  REQUIRE(gather);
  CHECK(gather->cells[1].number == *gather->cells[2].number * 0.8);
  CHECK(row_named(comparison.units, "layer 0"));
  // The optimizer belongs to no unit.
  CHECK(comparison.units.rows.size() == 1);
}

TEST_CASE("each instruction of one plan is a point, but not those without a time of their own") {
  const RunComparison comparison = compare_runs(predicted_and_measured(80), 1);
  REQUIRE(comparison.points.size() == 6);  // seven instructions less the HostWait
  for (const ScatterPoint& point : comparison.points) {
    CHECK(point.run == 0);
    CHECK(point.error == Approx(-0.2).margin(0.05));  // whole nanoseconds
  }
}

TEST_CASE("the worst instructions come first, with the reason that the traces give") {
  LoadedRun measured = loaded_run(2, RunKind::measured);
  for (StepTrace& step : measured.record.trace.steps) {
    Span& gather = step.ranks[1].spans[0];  // the second rank starts its gather late, the first waits for it
    gather.start = gather.ready = {90};
    step.ranks[0].spans[0].end = step.ranks[1].spans[0].end = {300};
    step.ranks[0].start_offset = step.ranks[1].start_offset = {};
  }
  LoadedRun predicted = loaded_run(1, RunKind::predicted);
  predicted.record.trace.provenance.calibrated = false;
  for (StepTrace& step : predicted.record.trace.steps) {
    step.ranks.resize(1);
    step.ranks[0].spans[2].end = {150};  // Backward far too short
    step.ranks[0].spans[0].end = {150};
  }
  const RunComparison comparison = compare_runs({shared_run(predicted), shared_run(measured)}, 1);
  const Row* backward = row_named(comparison.worst, "backward of layer 0 (2 Backward s0 mb0)");
  REQUIRE(backward);
  CHECK(backward->instruction == InstructionId{2});
  CHECK_THAT(backward->cells.back().text, contains_text("not calibrated"));
  const Row* gather = row_named(comparison.worst, "all-gather of layer 0 (0 AllGather u0)");
  REQUIRE(gather);
  CHECK_THAT(gather->cells.back().text, contains_text("90 ns apart"));
  for (std::size_t i = 1; i < comparison.worst.rows.size(); ++i)
    CHECK(std::abs(*comparison.worst.rows[i - 1].cells[3].number) >=
          std::abs(*comparison.worst.rows[i].cells[3].number));
}

TEST_CASE("what lies within the spread of the measurement is said to be no error of the model") {
  LoadedRun measured = loaded_run(2, RunKind::measured, 100, 3);
  measured.record.trace.steps[0] = stretched(measured.record.trace.steps[0], 50);
  const RunComparison comparison =
      compare_runs({shared_run(loaded_run(1, RunKind::predicted, 80)), shared_run(measured)}, 1);
  REQUIRE_FALSE(comparison.worst.rows.empty());
  CHECK_THAT(comparison.worst.rows.front().cells.back().text, contains_text("within the spread"));
}

TEST_CASE("runs of different plans are compared by totals alone, and the note says so") {
  LoadedRun other = loaded_run(1, RunKind::predicted);
  other.record.summary.plan_hash = "another";
  other.record.trace.steps.clear();
  const RunComparison comparison =
      compare_runs({shared_run(other), shared_run(loaded_run(2, RunKind::measured))}, 1);
  CHECK(comparison.points.empty());
  CHECK(comparison.worst.rows.empty());
  CHECK_THAT(comparison.note,
             contains_text("r1 tiny fsdp2, predicted follows another plan than r2 tiny fsdp2, measured"));
  CHECK(row_named(comparison.totals, "step time"));
}

TEST_CASE("a prediction for another machine differs and is no error") {
  LoadedRun predicted = loaded_run(1, RunKind::predicted, 80), measured = loaded_run(2, RunKind::measured);
  predicted.record.machine = "8 x H100-SXM (dgx-h100)";
  measured.record.machine = "2 processors";
  const RunComparison comparison = compare_runs({shared_run(predicted), shared_run(measured)}, 1);
  for (const DataTable* const table : {&comparison.totals, &comparison.classes, &comparison.kinds})
    CHECK(table->columns[3].title == "difference");
  CHECK(row_named(comparison.totals, "step time")->cells[3].tone == CellTone::plain);
}

TEST_CASE("times that a validation did not judge are no errors, bytes are") {
  LoadedRun measured = loaded_run(2, RunKind::measured);
  measured.record.times_not_judged = "other programs took 38 % of the processors meanwhile";
  const RunComparison comparison =
      compare_runs({shared_run(loaded_run(1, RunKind::predicted, 80)), shared_run(measured)}, 1);
  CHECK(comparison.totals.columns[3].title == "difference");
  CHECK(comparison.kinds.columns[3].title == "difference");
  CHECK(comparison.classes.columns[3].title == "error");
}

TEST_CASE("classes that an imported run does not know are no zeros") {
  LoadedRun imported = loaded_run(2, RunKind::measured);
  imported.record.summary.memory->by_class = {};
  imported.record.summary.plan_hash = "another";
  const RunComparison comparison =
      compare_runs({shared_run(loaded_run(1, RunKind::predicted)), shared_run(imported)}, 1);
  REQUIRE_FALSE(comparison.classes.rows.empty());
  for (const Row& row : comparison.classes.rows) {
    CHECK(row.cells[1].number);
    CHECK_FALSE(row.cells[2].number);
    CHECK(row.cells[2].text == "-");
    CHECK(row.cells[3].text == "-");
  }
}

TEST_CASE("a collective that a run has none of is a dash in every column") {
  const auto run_with = [](std::int64_t id, std::int64_t bytes) {
    LoadedRun run = loaded_run(id, RunKind::predicted);
    run.record.summary.plan_hash = "plan " + std::to_string(id);
    run.record.summary.communication.clear();
    if (bytes > 0)
      run.record.summary.communication.push_back(
          {InstructionKind::AllToAll, 2, 1, Bytes{bytes}, Bytes{bytes}, {}});
    return shared_run(run);
  };
  const RunComparison comparison = compare_runs({run_with(1, 0), run_with(2, 100), run_with(3, 0)}, 0);
  const Row* const row = row_named(comparison.totals, "communication AllToAll");
  REQUIRE(row);
  CHECK(row->cells[1].text == "-");
  CHECK(row->cells[2].text == "100 B");
  CHECK(row->cells[3].text == "-");
}

TEST_CASE("three runs have a column each and say which run an instruction is of") {
  auto runs = predicted_and_measured(80);
  runs.push_back(shared_run(loaded_run(3, RunKind::predicted, 120)));
  const RunComparison comparison = compare_runs(runs, 1);
  CHECK(comparison.totals.columns.size() == 6);
  CHECK(comparison.totals.columns[4].title == "error of r1 tiny fsdp2, predicted");
  CHECK(comparison.worst.columns[1].title == "run");
  CHECK(comparison.points.size() == 12);
}

TEST_CASE("figures of instructions are over all spans of the steady plan's steps") {
  LoadedRun run = loaded_run(1, RunKind::measured, 100, 3);
  run.record.trace.steps[0] = stretched(run.record.trace.steps[0], 200);
  run.record.trace.steps[1].plan_hash = "another";
  const auto figures = instruction_figures(run);
  REQUIRE(figures[1]);
  CHECK(figures[1]->n == 4);  // two steps of two ranks
  CHECK(figures[1]->most == figures[1]->least * 2);
}
