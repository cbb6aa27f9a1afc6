// What a rank has of a buffer at a moment: its own part or all of it, its own gradients or their sum over
// ranks.
//
// The plan is one for all ranks; what they differ in follows from the collectives. Before an all-gather in
// place the buffer holds the rank's own part, after a reduce-scatter in place that alone is of use. Gradients
// are a rank's own until a collective adds them up; copies and casts of them are what they are copied from.
#pragma once

#include <optional>
#include <vector>

#include "gui/view_model/player/gradient_sums.h"
#include "gui/view_model/player/lane_moves.h"

namespace shardlab::view {

struct BufferContent {
  int parts = 1;         // that are told apart: the ranks of the collective, or 1
  int own = 0;           // which of them is the rank's own
  double own_there = 1;  // of its own part, or of the buffer where it is one; 0 to 1
  double others_there = 1;
  // Gradients: over how many ranks they are added up, or just now being; 1: the rank's own; 0: no gradients.
  int summed_ranks = 0;
  int summed_before = 1;  // over how many those are that are not yet
  double own_summed = 0;  // how much of its own part is, or of the buffer; 0 to 1
  double others_summed = 0;

  friend bool operator==(const BufferContent&, const BufferContent&) = default;
};

class BufferContents {
 public:
  // Both must outlive it.
  BufferContents(const StepPlan& plan, const LaneMoves& moves);

  // While the instruction at this place has done so much of its work; in a lane of one rank. What the
  // instruction allocates or frees by itself is in PlayerFrame.
  BufferContent of(BufferId buffer, std::size_t position, double progress, int lane) const;

 private:
  // From the instruction at `begin` until the one at `end` only the own part is of use.
  struct OwnPart {
    std::size_t begin = 0, end = 0;
    GroupId group;
  };

  void find_own_parts();
  // Tells the parts of the group's ranks apart.
  void divide(GroupId group, int lane, BufferContent& content) const;
  void receive(const Instruction& instruction, BufferId buffer, double progress, int lane,
               BufferContent& content) const;
  void add_up(BufferId buffer, std::size_t position, double progress, int lane, BufferContent& content) const;

  const StepPlan* plan_;
  const LaneMoves* moves_;
  std::vector<std::vector<OwnPart>> own_parts_;  // by BufferId, in the order of the plan
  GradientSums sums_;
};

}  // namespace shardlab::view
