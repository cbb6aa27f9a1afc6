#include "engine/plan/layout.h"

#include <algorithm>

namespace shardlab {

std::int64_t ParameterPiece::first_row(int rank) const { return std::min(rows, shard_rows * rank); }

std::int64_t ParameterPiece::held_rows(int rank) const { return std::min(rows, shard_rows * (rank + 1)) - first_row(rank); }

ParameterLayout make_layout(const ModelGraph& graph, std::span<const ParameterId> parameters, int group) {
  ParameterLayout layout;
  layout.group = group;
  layout.pieces.reserve(parameters.size());
  for (const ParameterId id : parameters) {
    const Shape& shape = graph.parameter(id).shape;
    ParameterPiece piece;
    piece.parameter = id;
    piece.rows = shape.empty() ? 1 : shape.front();
    piece.row_elements = element_count(shape) / piece.rows;
    piece.offset = layout.elements;
    piece.shard_rows = (piece.rows + group - 1) / group;
    piece.shard_offset = layout.shard_elements;
    layout.elements += piece.elements();
    layout.shard_elements += piece.shard_elements();
    layout.pieces.push_back(piece);
  }
  return layout;
}

std::int64_t elements_of(const ParameterLayout& layout, BufferLayout kind) {
  switch (kind) {
    case BufferLayout::parameters: return layout.elements;
    case BufferLayout::row_shards: return layout.shard_elements;
    case BufferLayout::gathered_row_shards: return layout.gathered_elements();
    case BufferLayout::opaque: break;
  }
  return 0;
}

}  // namespace shardlab
