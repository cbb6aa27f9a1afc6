#include "simulator/memory/overheads/communicators.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/plan/group_ranks.h"
#include "simulator/network/ranks_on_nodes.h"

namespace shardlab {
namespace {

using Members = std::vector<int>;

PlannedCommunicator describe(const Group& group, const Members& members, const Device& device) {
  const RanksOnNodes on = ranks_on_nodes(members, std::max(device.ranks_per_node, 1));
  PlannedCommunicator its;
  its.name = to_text(group.ranks);
  its.ranks = static_cast<int>(members.size());
  const bool switched = its.ranks <= device.wires.switch_ranks;
  its.nodes = switched ? 1 : on.nodes;
  its.ranks_per_node = std::max(its.ranks_per_node, switched ? its.ranks : on.most);
  return its;
}

void add_use(PlannedCommunicator& its, const Instruction& instruction) {
  if (instruction.kind == InstructionKind::AllToAll) {
    its.all_to_all = true;
  } else if (instruction.kind != InstructionKind::AllReduce) {
    its.rings = true;
  } else {
    const auto place = std::lower_bound(its.all_reduces.begin(), its.all_reduces.end(), instruction.bytes);
    if (place == its.all_reduces.end() || *place != instruction.bytes)
      its.all_reduces.insert(place, instruction.bytes);
  }
}

}  // namespace

std::vector<PlannedCommunicator> communicators_of(const PlannedScenario& planned, const Device& device) {
  std::vector<PlannedCommunicator> communicators;
  std::map<Members, std::size_t> known;
  for (const StepPlan* plan : planned.plan.all()) {
    std::map<GroupId, std::size_t> of_group;
    for (const Instruction& instruction : plan->instructions) {
      if (!is_collective(instruction.kind) || !instruction.group) continue;
      const Group& group = plan->groups[instruction.group->index()];
      if (group.size <= 1) continue;
      auto its = of_group.find(*instruction.group);
      if (its == of_group.end()) {
        const Members members = ranks_of_group(group, planned.scenario, 0);
        const auto place = known.try_emplace(members, communicators.size()).first;
        if (place->second == communicators.size()) communicators.push_back(describe(group, members, device));
        its = of_group.emplace(*instruction.group, place->second).first;
      }
      add_use(communicators[its->second], instruction);
    }
  }
  return communicators;
}

}  // namespace shardlab
