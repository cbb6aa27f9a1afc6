#include "tests/gui/stored_prediction.h"

#include "engine/store/run_store.h"
#include "gui/session/session.h"
#include "tests/catch.h"
#include "tests/gui/ui.h"
#include "tests/hand_made_run.h"

namespace shardlab::test {
namespace {

RunRecord record_of(gui::Session& session) {
  RunRecord record = session.predicted_run()->record;
  record.scenario_yaml = session.document().text();
  return record;
}

}  // namespace

StoredPrediction::StoredPrediction(bool measured) {
  gui::Session session;
  session.open_text(gui::small_scenario(), source_folder() / "scenarios/first/test.yaml");
  session.settle();
  REQUIRE(session.predicted_run());
  auto store = RunStore::open(file(), OpenMode::create);
  REQUIRE_OK(store);
  RunRecord record = record_of(session);
  REQUIRE_OK(store->save(record));
  for (StepTrace& step : record.trace.steps) step = stretched(step, 130);
  record.summary.step_time.median = record.summary.step_time.median * 130 / 100;
  if (measured) record.trace.provenance.kind = record.summary.kind = RunKind::measured;
  REQUIRE_OK(store->save(record));
}

}  // namespace shardlab::test
