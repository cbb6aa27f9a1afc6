#include "engine/execute/torch/communication/connect_groups.h"

#include <set>

#include "engine/plan/group_ranks.h"

namespace shardlab {

std::vector<RankGroup> groups_of(const PlannedScenario& planned, int rank) {
  std::vector<RankGroup> groups;
  std::set<RankSet> seen;
  for (const StepPlan* plan : planned.plan.all()) {
    for (const Group& group : plan->groups) {
      if (group.size == 1 || !seen.insert(group.ranks).second) continue;
      groups.push_back({group.ranks, ranks_of_group(group, planned.scenario, rank)});
    }
  }
  return groups;
}

Result<Communicators> connect_groups(const Rendezvous& rendezvous, const std::vector<RankGroup>& groups,
                                     int rank) {
  Communicators communicators;
  for (const RankGroup& group : groups) {
    SHARDLAB_TRY(communicators[group.set], rendezvous.communicator(to_text(group.set), group.ranks, rank));
  }
  return communicators;
}

}  // namespace shardlab
