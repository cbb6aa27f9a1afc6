// Over how many ranks the gradients in a buffer are added up, from instruction to instruction of a plan.
#pragma once

#include <optional>
#include <vector>

#include "engine/plan/step_plan.h"

namespace shardlab::view {

// Since the instruction at this place. With a root the rank at that place of the group alone has the sum.
struct GradientSum {
  std::size_t since = 0;
  int ranks = 1;
  int before = 1;  // what that instruction began with
  std::optional<GroupId> root_group{};
  int root = 0;

  friend bool operator==(const GradientSum&, const GradientSum&) = default;
};

class GradientSums {
 public:
  explicit GradientSums(const StepPlan& plan);

  // Once the instruction at this place is done; null for a buffer that holds no gradients, or none so far.
  const GradientSum* after(BufferId buffer, std::size_t position) const;

 private:
  std::vector<std::vector<GradientSum>> sums_;  // by BufferId, in the order of the plan
};

bool holds_gradients(const Buffer& buffer);

// Adds gradients up over the ranks of a group.
bool adds_up(const Instruction& instruction);

}  // namespace shardlab::view
