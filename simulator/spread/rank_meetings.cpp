#include "simulator/spread/rank_meetings.h"

#include <utility>

#include "engine/plan/group_ranks.h"

namespace shardlab {
namespace {

GroupMeetings meetings_of(const Group& group, const Scenario& scenario, int ranks) {
  constexpr auto k_unknown = static_cast<std::uint32_t>(-1);
  GroupMeetings meetings;
  meetings.of_rank.assign(static_cast<std::size_t>(ranks), k_unknown);
  for (int rank = 0; rank < ranks; ++rank) {
    if (meetings.of_rank[static_cast<std::size_t>(rank)] != k_unknown) continue;
    std::vector<int> members = ranks_of_group(group, scenario, rank);
    for (const int member : members)
      meetings.of_rank[static_cast<std::size_t>(member)] =
          static_cast<std::uint32_t>(meetings.members.size());
    meetings.members.push_back(std::move(members));
  }
  return meetings;
}

}  // namespace

std::vector<GroupMeetings> meetings_of(const StepPlan& plan, const Scenario& scenario, int ranks) {
  std::vector<GroupMeetings> all;
  for (const Group& group : plan.groups) all.push_back(meetings_of(group, scenario, ranks));
  return all;
}

}  // namespace shardlab
