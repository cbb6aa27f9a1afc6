#include "gui/view_model/player/rank_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/plan/group_ranks.h"

namespace shardlab::view {

std::vector<RankLane> rank_lanes(int ranks) {
  std::vector<RankLane> lanes;
  for (int rank = 0; rank < std::min(ranks, k_ranks_with_a_lane); ++rank) lanes.push_back({rank, rank});
  if (ranks > k_ranks_with_a_lane) lanes.push_back({k_ranks_with_a_lane, ranks - 1, true});
  return lanes;
}

std::string title_of(const RankLane& lane) {
  if (!lane.folded) return fmt::format("rank {}", lane.first);
  if (lane.ranks() == 1) return fmt::format("rank {} alike", lane.first);
  return fmt::format("ranks {} to {} alike", lane.first, lane.last);
}

std::optional<int> LaneSet::place_of(int lane) const {
  for (const LanePlace& member : members) {
    if (member.lane == lane) return member.place;
  }
  return std::nullopt;
}

std::vector<LaneSet> lane_sets(const Group& group, const Scenario& scenario,
                               const std::vector<RankLane>& lanes) {
  std::map<int, LaneSet> sets;  // by the set's first rank
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].folded) continue;
    const std::vector<int> ranks = ranks_of_group(group, scenario, lanes[i].first);
    const auto place = std::find(ranks.begin(), ranks.end(), lanes[i].first) - ranks.begin();
    LaneSet& set = sets[ranks.front()];
    set.ranks = static_cast<int>(ranks.size());
    set.members.push_back({static_cast<int>(i), static_cast<int>(place)});
  }
  std::vector<LaneSet> result;
  for (auto& [first, set] : sets) result.push_back(std::move(set));
  return result;
}

}  // namespace shardlab::view
