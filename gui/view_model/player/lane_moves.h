// What collectives move between lanes, and what every lane has sent so far.
//
// The convention is the reports' (sent_bytes(), plan/unit_sizes.h): a rank sends its part straight to every
// other one, so that each of W ranks sends (W - 1) / W of the full side, twice that for an all-reduce. The
// moves of a collective, those among folded ranks included, add up to sent_bytes() of its instruction.
// Instructions with a guard count as if they ran.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engine/plan/step_plan.h"
#include "gui/view_model/player/rank_lanes.h"

namespace shardlab::view {

struct LaneMove {
  int from = 0, to = 0;       // lanes; the same one twice among folded ranks
  int stage = 0;              // an all-reduce has two, the second after the first
  std::optional<int> part{};  // by the place of its rank in the set; none where it is the whole, or several
  Bytes bytes;
  bool adds = false;  // the receiver adds it to what it has

  friend bool operator==(const LaneMove&, const LaneMove&) = default;
};

// 2 for an all-reduce, which is a reduce-scatter and then an all-gather, else 1.
int stages_of(InstructionKind kind);

// How much of a stage is done, 0 to 1, when so much of the collective is; stages take the same time.
double stage_progress(InstructionKind kind, int stage, double progress);

// What has arrived of a move of the collective: all of it exactly when its stage is done.
Bytes arrived(const LaneMove& move, InstructionKind kind, double progress);

class LaneMoves {
 public:
  // The plan must outlive it; the scenario is the plan's.
  LaneMoves(const StepPlan& plan, const Scenario& scenario);

  const std::vector<RankLane>& lanes() const { return lanes_; }
  const std::vector<LaneSet>& sets_of(GroupId group) const { return sets_[group.index()]; }
  // Where the lane's rank is in its set of the group; none for folded ranks.
  std::optional<int> place_in(GroupId group, int lane) const;
  // Stage after stage; empty for what is no collective of several ranks.
  std::vector<LaneMove> of(const Instruction& instruction) const;

  // What the lane's ranks have sent before the instruction at this place.
  Bytes sent_before(std::size_t position, std::size_t lane) const { return sent_[lane][position]; }
  // What all ranks send in the whole step.
  Bytes sent_in_step() const { return sent_in_step_; }

 private:
  void add_stage(const Instruction& instruction, const LaneSet& set, int stage,
                 std::vector<LaneMove>& moves) const;

  const StepPlan* plan_;
  std::vector<RankLane> lanes_;
  std::vector<std::vector<LaneSet>> sets_;  // by GroupId
  std::vector<std::vector<Bytes>> sent_;    // by lane, then by instruction and one more for the end
  Bytes sent_in_step_;
};

}  // namespace shardlab::view
