// GradientNorms and ClipGradients without a host that waits for the norm.
#pragma once

#include <memory>
#include <vector>

#include "engine/execute/torch/instructions/action.h"
#include "engine/execute/torch/memory/memory_ledger.h"

namespace shardlab {

// Elements of one trained parameter in a gradient buffer.
struct GradientPiece {
  Slot slot = k_no_slot;
  std::int64_t offset = 0;
  std::int64_t count = 0;
  std::size_t place = 0;  // the parameter's among the trained ones
};

std::unique_ptr<Action> device_gradient_norms(const Site& site, Slot norms,
                                              std::vector<GradientPiece> pieces);
std::unique_ptr<Action> device_clip_gradients(const Site& site, Slot norms, std::vector<Slot> gradients,
                                              double limit);

}  // namespace shardlab
