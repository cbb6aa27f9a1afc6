// Where the elements that an optimizer updates together lie in the gradient, the parameters and the states.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/execute/torch/instructions/parameter_ranges.h"

namespace shardlab {

// Elements [gradient, gradient + count) of the gradient buffer, and so on.
struct UpdatePiece {
  std::int64_t gradient = 0;
  std::int64_t parameter = 0;
  std::int64_t state = 0;
  std::int64_t count = 0;
};

// Ascending by `gradient`; none of a frozen parameter. `state`: null when the optimizer has none. Buffers
// that lie alike are one piece, padding included.
std::vector<UpdatePiece> update_pieces(const RunState& run, const Buffer& gradients, const Buffer& parameters,
                                       const Buffer* state);

// The pieces cut at the borders of parameters; padding is in none of them. `held`: where the parameters lie
// in their buffer.
std::vector<UpdatePiece> by_parameter(const std::vector<UpdatePiece>& pieces,
                                      const std::vector<HeldRange>& held);

// Pieces that go on where another ends, in all three, as one; ascending by `gradient`.
std::vector<UpdatePiece> joined(std::vector<UpdatePiece> pieces);

}  // namespace shardlab
