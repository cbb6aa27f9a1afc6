#include "engine/execute/torch/instructions/update_pieces.h"

#include <algorithm>

namespace shardlab {
namespace {

bool starts_earlier(const ElementRange& a, const ElementRange& b) {
  return a.from < b.from;
}

// The trained elements of a gradient buffer, each at its own place.
std::vector<ElementRange> trained_ranges(const RunState& run, const Buffer& gradients) {
  const auto trained = [&](ParameterId id) { return run.planned.graph.parameter(id).trainable; };
  if (std::all_of(gradients.parameters.begin(), gradients.parameters.end(), trained))
    return {{0, 0, gradients.elements}};
  std::vector<ElementRange> ranges;
  for (const HeldRange& held : held_ranges(run, gradients)) {
    if (trained(held.parameter)) ranges.push_back({held.offset, held.offset, held.count});
  }
  return ranges;
}

}  // namespace

std::vector<UpdatePiece> update_pieces(const RunState& run, const Buffer& gradients, const Buffer& parameters,
                                       const Buffer* state) {
  std::vector<ElementRange> held = common_ranges(run, gradients, parameters);
  std::vector<ElementRange> states =
      state ? common_ranges(run, gradients, *state) : trained_ranges(run, gradients);
  std::sort(held.begin(), held.end(), starts_earlier);
  std::sort(states.begin(), states.end(), starts_earlier);
  std::vector<UpdatePiece> pieces;
  for (auto a = held.begin(), b = states.begin(); a != held.end() && b != states.end();) {
    const std::int64_t first = std::max(a->from, b->from);
    const std::int64_t last = std::min(a->from + a->count, b->from + b->count);
    if (first < last)
      pieces.push_back({first, a->to + first - a->from, b->to + first - b->from, last - first});
    (a->from + a->count < b->from + b->count ? a : b)++;
  }
  return pieces;
}

std::vector<UpdatePiece> joined(std::vector<UpdatePiece> pieces) {
  std::sort(pieces.begin(), pieces.end(),
            [](const UpdatePiece& a, const UpdatePiece& b) { return a.gradient < b.gradient; });
  std::vector<UpdatePiece> result;
  for (const UpdatePiece& piece : pieces) {
    const auto goes_on = [&](const UpdatePiece& last) {
      return last.gradient + last.count == piece.gradient && last.parameter + last.count == piece.parameter &&
             last.state + last.count == piece.state;
    };
    if (!result.empty() && goes_on(result.back())) {
      result.back().count += piece.count;
    } else {
      result.push_back(piece);
    }
  }
  return result;
}

std::vector<UpdatePiece> by_parameter(const std::vector<UpdatePiece>& pieces,
                                      const std::vector<HeldRange>& held) {
  std::vector<UpdatePiece> cut;
  for (const UpdatePiece& piece : pieces) {
    for (const HeldRange& parameter : held) {
      const std::int64_t begin = std::max(piece.parameter, parameter.offset);
      const std::int64_t end = std::min(piece.parameter + piece.count, parameter.offset + parameter.count);
      const std::int64_t skipped = begin - piece.parameter;
      if (begin < end) cut.push_back({piece.gradient + skipped, begin, piece.state + skipped, end - begin});
    }
  }
  return cut;
}

}  // namespace shardlab
