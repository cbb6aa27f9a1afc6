// Lanes: the ranks of a step side by side. The first eight have a lane each, all others share one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/group.h"
#include "engine/scenario/scenario.h"

namespace shardlab::view {

inline constexpr int k_ranks_with_a_lane = 8;

struct RankLane {
  int first = 0;
  int last = 0;
  bool folded = false;  // of ranks that are not told apart

  int ranks() const { return last - first + 1; }
  friend bool operator==(const RankLane&, const RankLane&) = default;
};

// In the order of their ranks; the folded one, if there is any, is the last.
std::vector<RankLane> rank_lanes(int ranks);

// "rank 3", "ranks 8 to 63 alike".
std::string title_of(const RankLane& lane);

// A rank with a lane of its own as a member of a set of ranks that run a collective together.
struct LanePlace {
  int lane = 0;
  int place = 0;  // in the set
  friend bool operator==(const LanePlace&, const LanePlace&) = default;
};

// One set of ranks: those with a lane of their own, and how many there are in all.
struct LaneSet {
  std::vector<LanePlace> members;
  int ranks = 0;

  int folded() const { return ranks - static_cast<int>(members.size()); }
  std::optional<int> place_of(int lane) const;
  friend bool operator==(const LaneSet&, const LaneSet&) = default;
};

// The sets that the group stands for, as far as a rank with a lane of its own is in them.
std::vector<LaneSet> lane_sets(const Group& group, const Scenario& scenario,
                               const std::vector<RankLane>& lanes);

}  // namespace shardlab::view
