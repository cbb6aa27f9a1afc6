#include "engine/execute/torch/communication/connect_groups.h"

#include "engine/plan/group_ranks.h"

namespace shardlab {

Result<Communicators> connect_groups(const Rendezvous& rendezvous, const PlannedScenario& planned, int rank) {
  Communicators communicators;
  for (const StepPlan* plan : planned.plan.all()) {
    for (const Group& group : plan->groups) {
      if (group.size == 1 || communicators.contains(group.ranks)) continue;
      const std::vector<int> ranks = ranks_of_group(group, planned.scenario, rank);
      SHARDLAB_TRY(communicators[group.ranks], rendezvous.communicator(to_text(group.ranks), ranks, rank));
    }
  }
  return communicators;
}

}  // namespace shardlab
