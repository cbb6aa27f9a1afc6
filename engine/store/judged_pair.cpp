#include "engine/store/judged_pair.h"

namespace shardlab {

bool machines_agree(std::string_view one, std::string_view other) {
  return one.empty() || other.empty() || one == other;
}

bool is_judged_pair(const RunRecord& one, const RunRecord& other) {
  const RunSummary &a = one.summary, &b = other.summary;
  return a.kind != b.kind && a.plan_hash == b.plan_hash && !a.ended_by && !b.ended_by &&
         machines_agree(one.machine, other.machine);
}

const std::string& reason_not_to_judge_times(const RunRecord& one, const RunRecord& other) {
  return one.times_not_judged.empty() ? other.times_not_judged : one.times_not_judged;
}

}  // namespace shardlab
