#include "gui/view_model/baseline.h"

#include "tests/catch.h"
#include "tests/unit/gui_view_model/loaded_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

const Row& row_named(const DataTable& table, const std::string& name) {
  for (const Row& row : table.rows)
    if (row.cells.front().text == name) return row;
  FAIL("no row " << name);
  return table.rows.front();
}

}  // namespace

TEST_CASE("what lies between a baseline and the prediction now") {
  const LoadedRun before = loaded_run(1, RunKind::predicted);
  LoadedRun now = loaded_run(2, RunKind::predicted, 150);
  now.record.summary.memory->peak_allocated = Bytes{300};
  now.record.summary.fits = Fit::no;
  const DataTable table = baseline_table(before, now);
  const Row& peak = row_named(table, "peak allocated");
  CHECK(peak.cells[1].text == "200 B");
  CHECK(peak.cells[2].text == "300 B");
  CHECK(peak.cells[3].text == "+50.0 % (+100 B)");
  const Row& time = row_named(table, "step time");
  CHECK(time.cells[3].text == "+50.0 %");
  CHECK(time.cells[3].tone == CellTone::plain);  // slower may be what was wanted
  const Row& fits = row_named(table, "fits");
  CHECK(fits.cells[1].text == "yes");
  CHECK(fits.cells[2].text == "no");
  CHECK(baseline_words(before, now) == "peak +100 B, step +50.0 %, fits no (was yes)");
}

TEST_CASE("without an edit nothing lies between them") {
  const LoadedRun run = loaded_run(1, RunKind::predicted);
  CHECK(baseline_words(run, run) == "as the baseline");
  for (const Row& row : baseline_table(run, run).rows)
    if (row.cells[3].text != "-") CHECK(row.cells[3].text == "same");
}
