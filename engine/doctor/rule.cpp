#include "engine/doctor/rule.h"

#include <algorithm>

namespace shardlab {

bool is_checked(const Rule& rule, Need need) {
  if (need == Need::log && !rule.signs.empty()) return true;
  if (need == Need::files && !rule.faults.empty()) return true;
  return std::any_of(rule.checks.begin(), rule.checks.end(), [&](const RuleCheck& check) {
    return std::find(check.needs.begin(), check.needs.end(), need) != check.needs.end();
  });
}

bool is_checked(const Rule& rule) {
  return !rule.signs.empty() || !rule.faults.empty() || !rule.checks.empty();
}

bool is_advice(const Rule& rule) {
  return rule.needs.empty();
}

Finding finding_of(const Rule& rule) {
  Finding finding;
  finding.rule = rule.id;
  finding.codes.assign(rule.codes.begin(), rule.codes.end());
  finding.severity = rule.severity;
  finding.title = rule.title;
  finding.message = rule.message;
  finding.fix = rule.fix;
  return finding;
}

}  // namespace shardlab
