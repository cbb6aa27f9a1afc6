#include "engine/strategies/zero/gradient_buckets.h"

#include <algorithm>
#include <optional>

namespace shardlab {
namespace {

// Ranks that own elements of a parameter: first and last.
struct Owners {
  std::int64_t first = 0, last = 0;
};

Owners owners_of(const ParameterLayout& partition, const ParameterPiece& piece) {
  const std::int64_t part = partition.flat_shard_elements();
  return {piece.flat_offset / part, (piece.flat_offset + piece.elements() - 1) / part};
}

const ParameterPiece& piece_of(const ParameterLayout& partition, ParameterId parameter) {
  return *std::find_if(partition.pieces.begin(), partition.pieces.end(),
                       [&](const ParameterPiece& piece) { return piece.parameter == parameter; });
}

// Elements of the bucket by owner: neighbours that one rank owns are one slice.
std::vector<std::int64_t> slices_of(const ParameterLayout& partition, const GradientBucket& bucket) {
  const std::int64_t part = partition.flat_shard_elements();
  std::vector<std::int64_t> slices;
  std::optional<std::int64_t> previous;
  for (const ParameterId parameter : bucket.parameters) {
    const ParameterPiece& piece = piece_of(partition, parameter);
    const Owners owners = owners_of(partition, piece);
    for (std::int64_t owner = owners.first; owner <= owners.last; ++owner) {
      const std::int64_t held = part_in(piece, owner * part, part).count;
      if (previous == owner) {
        slices.back() += held;
      } else {
        slices.push_back(held);
      }
      previous = owner;
    }
  }
  return slices;
}

std::vector<SentTogether> sent_together(const std::vector<std::int64_t>& slices, std::int64_t limit) {
  std::vector<SentTogether> sent;
  std::int64_t first = 0;
  for (const std::int64_t slice : slices) {
    if (sent.empty() || sent.back().elements > limit) sent.push_back({first});
    sent.back().elements += slice;
    ++sent.back().slices;
    first += slice;
  }
  return sent;
}

}  // namespace

std::vector<GradientBucket> gradient_buckets(const ModelGraph& graph, std::span<const ParameterId> order,
                                             std::int64_t limit, const ParameterLayout& partition) {
  std::vector<GradientBucket> buckets;
  for (const ParameterId parameter : order) {
    const std::int64_t elements = graph.parameter(parameter).elements();
    if (buckets.empty() || buckets.back().elements + elements > limit) buckets.emplace_back();
    GradientBucket& bucket = buckets.back();
    bucket.parameters.push_back(parameter);
    bucket.elements += elements;
    bucket.oversized = elements > limit;
  }
  for (GradientBucket& bucket : buckets) bucket.sent = sent_together(slices_of(partition, bucket), limit);
  return buckets;
}

std::int64_t most_touched_elements(const ParameterLayout& partition) {
  std::vector<std::int64_t> touched(static_cast<std::size_t>(partition.shards), 0);
  for (const ParameterPiece& piece : partition.pieces) {
    const Owners owners = owners_of(partition, piece);
    for (std::int64_t rank = owners.first; rank <= owners.last; ++rank)
      touched[static_cast<std::size_t>(rank)] += piece.elements();
  }
  return touched.empty() ? 0 : *std::max_element(touched.begin(), touched.end());
}

}  // namespace shardlab
