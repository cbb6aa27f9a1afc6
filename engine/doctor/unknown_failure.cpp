#include "engine/doctor/unknown_failure.h"

#include "engine/doctor/check_signs.h"
#include "engine/doctor/log/log_facts.h"

namespace shardlab {

std::optional<Finding> unknown_failure(const Case& facts) {
  if (facts.log == nullptr || !facts.log->likely) return std::nullopt;
  Finding finding;
  finding.rule = k_unknown_rule;
  finding.severity = facts.log->likely_is_failure ? Severity::warning : Severity::info;
  finding.title = facts.log->likely_is_failure ? "a failure that no rule knows" : "no rule knows this log";
  finding.message =
      facts.log->likely_is_failure
          ? "The log reports a failure that no rule knows; this line is most likely to matter."
          : "Nothing that a rule knows; if something is wrong, this line is most likely to matter.";
  finding.evidence.push_back(evidence_of(facts, *facts.log->likely));
  finding.fix = {FixKind::command, {}, "read the log from this line upwards: the first traceback counts"};
  finding.certainty = 0;
  finding.position = facts.log->likely->line;
  return finding;
}

}  // namespace shardlab
