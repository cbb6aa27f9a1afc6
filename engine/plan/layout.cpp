#include "engine/plan/layout.h"

#include <algorithm>

namespace shardlab {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::int64_t most_trained_elements(const ParameterLayout& layout) {
  std::int64_t most = 0;
  for (int rank = 0; rank < layout.shards; ++rank) most = std::max(most, layout.trained_flat_elements(rank));
  return most;
}

}  // namespace

std::int64_t ParameterPiece::first_row(int rank) const {
  return std::min(rows, shard_rows * rank);
}

std::int64_t ParameterPiece::held_rows(int rank) const {
  return std::min(rows, shard_rows * (rank + 1)) - first_row(rank);
}

ParameterLayout make_layout(const ModelGraph& graph, std::span<const ParameterId> parameters, int shards,
                            int alignment, int end_alignment, ShardedBy by) {
  ParameterLayout layout;
  layout.shards = shards;
  layout.pieces.reserve(parameters.size());
  for (const ParameterId id : parameters) {
    const Shape& shape = graph.parameter(id).shape;
    ParameterPiece piece;
    piece.parameter = id;
    piece.rows = shape.empty() ? 1 : by == ShardedBy::elements ? element_count(shape) : shape.front();
    piece.row_elements = element_count(shape) / piece.rows;
    piece.padded_rows = round_up(piece.rows, alignment);
    piece.offset = layout.elements;
    piece.shard_rows = (piece.padded_rows + shards - 1) / shards;
    piece.shard_offset = layout.shard_elements;
    piece.flat_offset = round_up(layout.flat_elements, alignment);
    piece.trained = graph.parameter(id).trainable;
    layout.elements += piece.padded_rows * piece.row_elements;
    layout.shard_elements += piece.shard_elements();
    layout.flat_elements = piece.flat_offset + piece.elements();
    layout.pieces.push_back(piece);
  }
  layout.flat_elements = round_up(layout.flat_elements, std::int64_t{shards} * end_alignment);
  return layout;
}

ParameterLayout make_layout(const ModelGraph& graph, const Buffer& buffer) {
  const bool by_elements =
      buffer.layout == BufferLayout::element_shards || buffer.layout == BufferLayout::gathered_element_shards;
  return make_layout(graph, buffer.parameters, buffer.shards, buffer.alignment, buffer.end_alignment,
                     by_elements ? ShardedBy::elements : ShardedBy::rows);
}

FlatPart part_in(const ParameterPiece& piece, std::int64_t begin, std::int64_t count) {
  const std::int64_t first = std::max(piece.flat_offset, begin);
  const std::int64_t last = std::min(piece.flat_offset + piece.elements(), begin + count);
  return {first - piece.flat_offset, first - begin, std::max<std::int64_t>(last - first, 0)};
}

std::int64_t ParameterLayout::trained_flat_elements(int rank) const {
  std::int64_t sum = 0;
  for (const ParameterPiece& piece : pieces) {
    if (piece.trained) sum += part_in(piece, rank * flat_shard_elements(), flat_shard_elements()).count;
  }
  return sum;
}

std::int64_t elements_of(const ParameterLayout& layout, BufferLayout kind) {
  switch (kind) {
    case BufferLayout::parameters:
    case BufferLayout::separate_parameters: return layout.elements;
    case BufferLayout::row_shards:
    case BufferLayout::element_shards: return layout.shard_elements;
    case BufferLayout::gathered_row_shards:
    case BufferLayout::gathered_element_shards: return layout.gathered_elements();
    case BufferLayout::flat: return layout.flat_elements;
    case BufferLayout::flat_shard: return layout.flat_shard_elements();
    case BufferLayout::trained_flat_shard: return most_trained_elements(layout);
    case BufferLayout::flat_range:
    case BufferLayout::opaque: break;
  }
  return 0;
}

}  // namespace shardlab
