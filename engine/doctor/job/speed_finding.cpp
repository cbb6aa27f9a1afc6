#include "engine/doctor/job/speed_finding.h"

#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/room.h"

namespace shardlab {

bool is_on_gpus(const Case& facts) {
  return facts.job->device->kind == DeviceKind::gpu;
}

bool steps_fit(const Case& facts) {
  return !steps_do_not_fit(*facts.job->predicted);
}

Finding speed_finding(const Rule& rule, const Case& facts, std::vector<std::vector<std::string>> alternatives,
                      bool needs_a_fix) {
  Finding finding = finding_of(rule);
  finding.goal = Goal::speed;
  finding.needs_a_fix = needs_a_fix;
  finding.severity = is_on_gpus(facts) ? Severity::warning : Severity::info;
  finding.certainty = 70;
  finding.remedies = {{RemedyStep::wrapping, std::move(alternatives)}};
  return finding;
}

Finding effect_finding(const Rule& rule, const Case& facts,
                       std::vector<std::vector<std::string>> alternatives) {
  Finding finding = speed_finding(rule, facts, std::move(alternatives), false);
  finding.goal = Goal::effect;
  finding.severity = rule.severity == Severity::warning ? finding.severity : rule.severity;
  return finding;
}

}  // namespace shardlab
