// The step player's ranks side by side: what each has of the buffers, what moves between them, what they
// sent.
//
// The player's moment decides: instructions before its position are done, later ones have not begun, and of
// the one that plays its progress is done. Bytes are counted as in lane_moves.h.
#pragma once

#include <vector>

#include "gui/view_model/player/buffer_contents.h"
#include "gui/view_model/player/lane_moves.h"
#include "gui/view_model/player/step_player.h"

namespace shardlab::view {

struct LaneState {
  RankLane lane;
  Bytes sent;                           // so far in this step, by all ranks of the lane
  std::vector<BufferContent> contents;  // of PlayerFrame::buffers, one by one; empty for folded ranks
};

// A move of the collective that plays, and what of it has arrived.
struct LaneFlow {
  LaneMove move;
  Bytes arrived;
  double progress = 0;  // of its stage, 0 to 1: it moves while that is in between
};

struct BoardFrame {
  PlayerFrame buffers{};  // alive, on every rank alike
  std::vector<LaneState> lanes{};
  std::vector<LaneFlow> flows{};  // empty unless a collective plays
  Bytes moved{}, moving{};        // of the collective: what has arrived, and all that it carries
  Bytes sent{};                   // so far in this step, by all ranks
  Bytes sent_in_step{};           // once the step is done
};

class RankBoard {
 public:
  // The plan must outlive it; the scenario is the plan's.
  RankBoard(const StepPlan& plan, const Scenario& scenario)
      : plan_(&plan), moves_(plan, scenario), contents_(plan, moves_) {}
  RankBoard(const RankBoard&) = delete;
  RankBoard& operator=(const RankBoard&) = delete;

  const LaneMoves& moves() const { return moves_; }
  // At the moment of a player of the same plan; of an empty plan there are lanes, and nothing in them.
  BoardFrame frame(const StepPlayer& player) const;

 private:
  const StepPlan* plan_;
  LaneMoves moves_;
  BufferContents contents_;
};

}  // namespace shardlab::view
