#include "gui/view_model/exports/prepared_export.h"

#include <algorithm>
#include <utility>

#include "engine/scenario/read_scenario.h"
#include "simulator/exports/exported_scenario.h"

namespace shardlab::view {
namespace {

CalibrationFor calibrations_of(const ExportWish& wish) {
  return [&wish](const Scenario& scenario) -> Result<std::optional<Calibration>> {
    std::vector<std::string> all = wish.calibrations;
    SHARDLAB_TRY(const std::vector<std::string> shipped, shipped_calibrations());
    all.insert(all.end(), shipped.begin(), shipped.end());
    return choose_calibration(all, wish.calibrations_from, scenario);
  };
}

std::vector<OfferedTarget> offered_targets(const ExportSubject& subject) {
  std::vector<OfferedTarget> offered;
  for (const ExportTarget& target : export_targets())
    offered.push_back({target.name, words_of(target), std::string(target.help), target.refuses(subject).why});
  return offered;
}

// Where none can, the first one says why.
const ExportTarget* chosen_target(const ExportWish& wish, const std::vector<OfferedTarget>& offered) {
  if (const ExportTarget* const named = find_export_target(wish.target)) return named;
  const auto can = std::find_if(offered.begin(), offered.end(),
                                [](const OfferedTarget& each) { return each.refusal.empty(); });
  return find_export_target(can != offered.end() ? can->name : offered.front().name);
}

Result<PreparedExport> prepare(const ExportWish& wish) {
  SHARDLAB_TRY(ReadScenario read, parse_scenario_with_source(wish.text, wish.file_name));
  SHARDLAB_TRY(const ExportedScenario exported, load_exported_scenario(std::move(read)));
  const ExportSubject subject = exported.subject();
  PreparedExport prepared;
  prepared.targets = offered_targets(subject);
  SHARDLAB_TRY(std::vector<MadeExport> made, make_exports({chosen_target(wish, prepared.targets)}, subject,
                                                          WithPrediction::yes, calibrations_of(wish)));
  prepared.made = std::move(made.front());
  return prepared;
}

}  // namespace

PreparedExport prepare_export(const ExportWish& wish) {
  auto prepared = prepare(wish);
  if (prepared) return *std::move(prepared);
  PreparedExport failed;
  failed.error = std::move(prepared).error();
  return failed;
}

}  // namespace shardlab::view
