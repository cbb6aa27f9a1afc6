#include "engine/cli/recorded_training.h"

#include <fmt/format.h>

#include "engine/cli/stored_runs.h"
#include "engine/formats/record/import_record.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/summarize.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {

Result<RunRecord> record_of_training(const std::filesystem::path& path) {
  SHARDLAB_TRY(ImportedRecord imported, import_training_record(path));
  SHARDLAB_TRY(const Scenario scenario,
               parse_scenario(imported.record.scenario, (path / "scenario").string()));
  SHARDLAB_TRY(const PlannedScenario planned, plan_scenario(scenario));
  RunRecord record;
  record.name = scenario.name;
  record.machine = imported.profile.trace.provenance.machine;
  record.tags = {"imported"};
  record.note = fmt::format("from {}", path.string());
  record.scenario_yaml = imported.record.scenario;
  SHARDLAB_TRY(record.summary, summarize_recorded(imported.profile.plan.steady, imported.profile.trace,
                                                  imported.profile.memory_limit));
  lay_over(imported.record, record.summary);
  SHARDLAB_CHECK_OK(add_known_rates(planned, record.summary));
  record.plan = std::move(imported.profile.plan);
  record.trace = std::move(imported.profile.trace);
  return record;
}

}  // namespace shardlab
