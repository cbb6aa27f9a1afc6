#include "simulator/spread/rank_meetings.h"

#include "engine/plan/group_ranks.h"

namespace shardlab {
namespace {

GroupMeetings meetings_of(const Group& group, const Scenario& scenario, int ranks) {
  GroupMeetings meetings;
  meetings.members = rank_sets_of_group(group, scenario, ranks);
  meetings.of_rank.resize(static_cast<std::size_t>(ranks));
  for (std::size_t place = 0; place < meetings.members.size(); ++place) {
    for (const int member : meetings.members[place])
      meetings.of_rank[static_cast<std::size_t>(member)] = static_cast<std::uint32_t>(place);
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
