#include "engine/strategies/zero/gradient_buckets.h"

#include <algorithm>

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

struct Slice {
  std::int64_t owner = 0, elements = 0;
};

// Gradient by gradient what each rank owns of it.
std::vector<Slice> pieces_of(const ParameterLayout& partition, const GradientBucket& bucket) {
  const std::int64_t part = partition.flat_shard_elements();
  std::vector<Slice> pieces;
  for (const ParameterId parameter : bucket.parameters) {
    const ParameterPiece& piece = piece_of(partition, parameter);
    const Owners owners = owners_of(partition, piece);
    for (std::int64_t owner = owners.first; owner <= owners.last; ++owner)
      pieces.push_back({owner, part_in(piece, owner * part, part).count});
  }
  return pieces;
}

// Neighbours that one rank owns are one slice.
std::vector<Slice> joined_slices(const std::vector<Slice>& pieces) {
  std::vector<Slice> slices;
  for (const Slice& piece : pieces) {
    if (slices.empty() || slices.back().owner != piece.owner) slices.push_back({piece.owner, 0});
    slices.back().elements += piece.elements;
  }
  return slices;
}

std::vector<SentTogether> sent_together(const std::vector<Slice>& slices, std::int64_t limit) {
  std::vector<SentTogether> sent;
  std::int64_t first = 0;
  for (const Slice& slice : slices) {
    if (sent.empty() || sent.back().elements > limit) sent.push_back({first});
    sent.back().elements += slice.elements;
    ++sent.back().slices;
    first += slice.elements;
  }
  return sent;
}

// The rank may own the end alone of the first parameter, and the beginning alone of the last.
SentToOwner sent_to(std::int64_t owner, std::vector<const ParameterPiece*> in_flat_order, std::int64_t part) {
  std::erase_if(in_flat_order,
                [&](const ParameterPiece* piece) { return part_in(*piece, owner * part, part).count <= 0; });
  SentToOwner sent{static_cast<int>(owner), {}, 0, 0};
  if (!in_flat_order.empty()) sent.first = part_in(*in_flat_order.front(), owner * part, part).first;
  for (const ParameterPiece* piece : in_flat_order) {
    sent.parameters.push_back(piece->parameter);
    sent.elements += part_in(*piece, owner * part, part).count;
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
  for (GradientBucket& bucket : buckets) {
    const std::vector<Slice> pieces = pieces_of(partition, bucket);
    bucket.sent = sent_together(joined_slices(pieces), limit);
    bucket.pieces = static_cast<int>(pieces.size());
    for (const Slice& piece : pieces) bucket.largest_piece = std::max(bucket.largest_piece, piece.elements);
  }
  return buckets;
}

std::vector<SentToOwner> sent_to_owners(const GradientBucket& bucket, const ParameterLayout& partition) {
  std::vector<const ParameterPiece*> pieces;
  for (const ParameterId parameter : bucket.parameters) pieces.push_back(&piece_of(partition, parameter));
  std::sort(pieces.begin(), pieces.end(),
            [](const ParameterPiece* a, const ParameterPiece* b) { return a->flat_offset < b->flat_offset; });
  std::vector<SentToOwner> all;
  for (const Slice& slice : pieces_of(partition, bucket)) {
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const SentToOwner& sent) { return sent.owner == slice.owner; });
    if (!known) all.push_back(sent_to(slice.owner, pieces, partition.flat_shard_elements()));
  }
  return all;
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
