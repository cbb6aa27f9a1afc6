// What a collective moves between which ranks, for pictures of several ranks side by side.
//
// The moves of one collective add up to sent_bytes() (plan/unit_sizes.h) of its instruction, which counts all
// groups: each rank sends its part straight to every other one, as the direct algorithm does; rings send the
// same bytes over more hops. An all-reduce is a reduce-scatter, then an all-gather. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

struct RankMove {
  int from = 0, to = 0;  // ranks
  int part = 0;          // whose part of the whole it is, by its place in the group
  int stage = 0;         // 1: after all of stage 0
  Bytes bytes;
  bool adds = false;  // the receiver adds it to what it has

  friend bool operator==(const RankMove&, const RankMove&) = default;
};

// The moves in all groups of the instruction's expression; empty for anything but a collective of several
// ranks. A rank sends nothing to itself.
std::vector<RankMove> rank_moves(const StepPlan& plan, InstructionId id, const Scenario& scenario);

// How much of the whole is the part of the rank at this place of a group of so many: equal parts; what does
// not divide goes to the later ones.
Bytes part_of_collective(Bytes whole, int place, int ranks);

// The bytes of all of them.
Bytes moved_bytes(const std::vector<RankMove>& moves);

// What every rank has before and after: a mark a part of the whole ("#" its own or whole, "." not there, "+"
// still to be added), then what is sent. For at most `most` ranks. Ends with a line end.
std::string rank_moves_text(const StepPlan& plan, InstructionId id, const Scenario& scenario, int most = 8);

// The same as an <svg> element: ranks side by side, their parts as boxes, arrows with bytes.
std::string rank_moves_svg(const StepPlan& plan, InstructionId id, const Scenario& scenario,
                           const std::string& title, int most = 4);

}  // namespace shardlab
