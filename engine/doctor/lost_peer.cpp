#include "engine/doctor/lost_peer.h"

#include <algorithm>

#include "engine/doctor/log/log_facts.h"
#include "engine/doctor/unknown_failure.h"

namespace shardlab {

bool tell_lost_peer(std::vector<Finding>& findings, const Case& facts) {
  if (!is_silent(facts) || !facts.log->first_failure->rank) return false;
  const int rank = *facts.log->first_failure->rank;
  const auto lost = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.role == Role::consequence && !finding.evidence.empty() &&
           finding.evidence.front().rank == rank;
  });
  if (lost == findings.end()) return false;
  lost->message =
      "This process failed first, because it lost a peer: another one ended without an error, having done "
      "fewer steps than the others or having left early.";
  lost->fix.text =
      "see that every rank runs the same number of steps (drop_last, a distributed sampler) and that none "
      "leaves the loop on a condition of its own";
  lost->severity = Severity::warning;
  lost->of_its_own = true;
  std::rotate(findings.begin(), lost, lost + 1);
  return true;
}

}  // namespace shardlab
