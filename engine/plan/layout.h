// Where each parameter lies in a buffer of a given layout.
//
// Row shards follow FSDP2 (torch 2.11, _fsdp_param.py): dimension 0 is cut into ceil(rows / shards) rows a
// rank, the last ranks get fewer or none and are padded, so that a collective is even. The flat vector
// follows FSDP1 (torch 2.11, fsdp/_flat_param.py, _init_flat_param_and_metadata and _get_shard): with
// use_orig_params each parameter begins on a multiple of `alignment` elements; the end is rounded up to a
// multiple of the shards, of which each rank holds a contiguous one; under ZeRO to a multiple of twice the
// shards (DeepSpeed 0.19.8, zero/stage_1_and_2.py, nccl_start_alignment_factor).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/model_graph.h"
#include "engine/plan/buffer.h"

namespace shardlab {

struct ParameterPiece {
  ParameterId parameter;
  std::int64_t rows = 0;          // of the whole parameter (dimension 0; 1 for a scalar)
  std::int64_t padded_rows = 0;   // rows rounded up to the alignment
  std::int64_t row_elements = 0;  // elements of one row
  std::int64_t offset = 0;        // of the parameter in a `parameters` buffer, in elements
  std::int64_t shard_rows = 0;    // ceil(padded_rows / shards)
  std::int64_t shard_offset = 0;  // of the parameter in a `row_shards` buffer, in elements
  std::int64_t flat_offset = 0;   // of the parameter in a `flat` buffer, in elements
  bool trained = true;

  std::int64_t elements() const { return rows * row_elements; }
  std::int64_t shard_elements() const { return shard_rows * row_elements; }
  // Rows [first_row(r), first_row(r) + held_rows(r)) of the parameter are rank r's; the rest of its shard is
  // padding.
  std::int64_t first_row(int rank) const;
  std::int64_t held_rows(int rank) const;
};

struct ParameterLayout {
  int shards = 1;
  std::vector<ParameterPiece> pieces;
  std::int64_t elements = 0;        // of a `parameters` buffer
  std::int64_t shard_elements = 0;  // of a `row_shards` or `element_shards` buffer
  std::int64_t flat_elements = 0;   // of a `flat` buffer
  std::int64_t gathered_elements() const { return shard_elements * shards; }
  std::int64_t flat_shard_elements() const { return flat_elements / shards; }
  // How many elements of the rank's part of the flat vector are of trained parameters.
  std::int64_t trained_flat_elements(int rank) const;
};

// Elements [first, first + count) of a parameter lie at `offset` of a part of the flat vector.
struct FlatPart {
  std::int64_t first = 0, offset = 0, count = 0;
};
FlatPart part_in(const ParameterPiece& piece, std::int64_t begin, std::int64_t count);

// What a shard of a parameter is made of: rows of dimension 0, or elements (ZeRO-3, a parameter being flat).
enum class ShardedBy : std::uint8_t { rows, elements };

ParameterLayout make_layout(const ModelGraph& graph, std::span<const ParameterId> parameters, int shards,
                            int alignment = 1, int end_alignment = 1, ShardedBy by = ShardedBy::rows);
// That of a buffer.
ParameterLayout make_layout(const ModelGraph& graph, const Buffer& buffer);

// Elements of a buffer with this layout.
std::int64_t elements_of(const ParameterLayout& layout, BufferLayout kind);

}  // namespace shardlab
