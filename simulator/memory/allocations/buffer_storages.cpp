#include "simulator/memory/allocations/buffer_storages.h"

#include <algorithm>

#include "engine/plan/layout.h"

namespace shardlab {
namespace {

bool is_of(const Buffer& buffer, std::initializer_list<BufferClass> classes) {
  return std::find(classes.begin(), classes.end(), buffer.buffer_class) != classes.end();
}

bool one_tensor_a_parameter(const Buffer& buffer) {
  switch (buffer.layout) {
    case BufferLayout::separate_parameters: return true;
    case BufferLayout::parameters:
      return is_of(buffer,
                   {BufferClass::parameter, BufferClass::gathered_parameters, BufferClass::optimizer_state});
    case BufferLayout::row_shards:
      return is_of(buffer, {BufferClass::parameter_shard, BufferClass::gathered_parameters,
                            BufferClass::optimizer_state});
    // Vectors that are not aligned are those of use_orig_params: false.
    case BufferLayout::flat:
    case BufferLayout::flat_shard:
    case BufferLayout::trained_flat_shard:
      return is_of(buffer, {BufferClass::optimizer_state}) && buffer.alignment > 1;
    // ZeRO-3 trains one flat vector a rank; each shard that it gathers is a buffer of its own.
    case BufferLayout::element_shards:
    case BufferLayout::opaque:
    case BufferLayout::flat_range:
    case BufferLayout::gathered_element_shards:
    case BufferLayout::gathered_row_shards: return false;
  }
  return false;
}

std::int64_t elements_of_piece(const Buffer& buffer, const ParameterLayout& layout,
                               const ParameterPiece& piece) {
  switch (buffer.layout) {
    case BufferLayout::row_shards:
    case BufferLayout::element_shards: return piece.shard_elements();
    case BufferLayout::trained_flat_shard:
      if (!piece.trained) return 0;
      [[fallthrough]];
    case BufferLayout::flat_shard: return part_in(piece, 0, layout.flat_shard_elements()).count;
    default: return piece.elements();
  }
}

}  // namespace

std::vector<Bytes> storages_of(const ModelGraph& graph, const Buffer& buffer, WhoseStorages whose) {
  const bool split = whose == WhoseStorages::framework ? one_tensor_a_parameter(buffer)
                                                       : buffer.layout == BufferLayout::separate_parameters;
  std::vector<Bytes> storages;
  const auto add = [&](std::int64_t elements) {
    if (elements > 0) storages.push_back(bytes_of(elements, buffer.dtype));
  };
  if (!split) {
    add(buffer.elements);
    return storages;
  }
  const ParameterLayout layout = make_layout(graph, buffer);
  storages.reserve(layout.pieces.size());
  for (const ParameterPiece& piece : layout.pieces) add(elements_of_piece(buffer, layout, piece));
  return storages;
}

}  // namespace shardlab
