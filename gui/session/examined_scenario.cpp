#include "gui/session/examined_scenario.h"

#include <exception>

#include "engine/doctor/examine_mistakes.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/remedies/examine_with_remedies.h"

namespace shardlab::gui {
namespace {

Result<Examination> examine_prediction(const Prediction& prediction, const std::string& file_name,
                                       const std::function<bool()>& is_wanted) {
  SHARDLAB_TRY(const Device device, resolve_device(*prediction.planned.scenario.cluster));
  const JobFacts job{.scenario = &prediction.planned.scenario,
                     .source = &prediction.source,
                     .device = &device,
                     .planned = &prediction.planned,
                     .predicted = &prediction.summary(),
                     .trace = &prediction.run->record.trace};
  Case known;
  known.source = file_name;
  return examine_with_remedies(job, prediction.calibration ? &*prediction.calibration : nullptr, known, {},
                               is_wanted);
}

Result<Examination> examine_what_is_there(const ScenarioToExamine& scenario,
                                          const std::function<bool()>& is_wanted) {
  if (scenario.prediction) return examine_prediction(*scenario.prediction, scenario.file_name, is_wanted);
  if (!is_mistake(*scenario.error)) return fail(*scenario.error);
  return examine_mistakes(scenario.file_name, *scenario.error);
}

}  // namespace

ExaminedScenario examine_scenario(const ScenarioToExamine& scenario, const std::function<bool()>& is_wanted) {
  ExaminedScenario examined;
  examined.revision = scenario.revision;
  examined.prediction = scenario.prediction;
  try {
    auto examination = examine_what_is_there(scenario, is_wanted);
    if (examination) {
      examined.examination = *std::move(examination);
    } else {
      examined.failure = examination.error();
    }
  } catch (const std::exception& exception) {
    // A defect must not end the window.
    examined.failure = Error{ErrorKind::internal, "the doctor", exception.what(), {}};
  }
  return examined;
}

}  // namespace shardlab::gui
