#include "engine/execute/torch/instructions/parameter_ranges.h"

#include <algorithm>

namespace shardlab {
namespace {

void append_joined(std::vector<ElementRange>& ranges, const ElementRange& next, bool join = true) {
  if (next.count == 0) return;
  if (join && !ranges.empty()) {
    ElementRange& last = ranges.back();
    if (last.from + last.count == next.from && last.to + last.count == next.to) {
      last.count += next.count;
      return;
    }
  }
  ranges.push_back(next);
}

void append_shard(std::vector<HeldRange>& ranges, const ParameterLayout& layout, int rank,
                  std::int64_t base) {
  for (const ParameterPiece& piece : layout.pieces) {
    ranges.push_back({piece.parameter, piece.first_row(rank) * piece.row_elements, base + piece.shard_offset,
                      piece.held_rows(rank) * piece.row_elements});
  }
}

// Elements [first, first + count) of what the ranges hold, which begin with 0 from there.
std::vector<HeldRange> cut(const std::vector<HeldRange>& ranges, std::int64_t first, std::int64_t count) {
  std::vector<HeldRange> parts;
  for (const HeldRange& range : ranges) {
    const std::int64_t begin = std::max(range.offset, first);
    const std::int64_t end = std::min(range.offset + range.count, first + count);
    if (begin < end)
      parts.push_back({range.parameter, range.first + begin - range.offset, begin - first, end - begin});
  }
  return parts;
}

// The parameters' parts within [begin, begin + count) of the flat vector.
void append_flat(std::vector<HeldRange>& ranges, const ParameterLayout& layout, std::int64_t begin,
                 std::int64_t count) {
  for (const ParameterPiece& piece : layout.pieces) {
    const FlatPart part = part_in(piece, begin, count);
    if (part.count > 0) ranges.push_back({piece.parameter, part.first, part.offset, part.count});
  }
}

// The same of trained parameters, moved together.
void append_trained(std::vector<HeldRange>& ranges, const ParameterLayout& layout, std::int64_t begin,
                    std::int64_t count) {
  std::int64_t offset = 0;
  for (const ParameterPiece& piece : layout.pieces) {
    const FlatPart part = part_in(piece, begin, count);
    if (!piece.trained || part.count == 0) continue;
    ranges.push_back({piece.parameter, part.first, offset, part.count});
    offset += part.count;
  }
}

}  // namespace

std::vector<HeldRange> held_ranges(const RunState& run, const Buffer& buffer) {
  const ParameterLayout layout = run.layout(buffer);
  std::vector<HeldRange> ranges;
  switch (buffer.layout) {
    case BufferLayout::opaque: break;
    case BufferLayout::parameters:
    case BufferLayout::separate_parameters:
      for (const ParameterPiece& piece : layout.pieces)
        ranges.push_back({piece.parameter, 0, piece.offset, piece.elements()});
      break;
    case BufferLayout::row_shards: append_shard(ranges, layout, run.part(buffer), 0); break;
    case BufferLayout::element_shards:
      append_shard(ranges, layout, run.part(buffer), 0);
      if (buffer.elements != layout.shard_elements) ranges = cut(ranges, buffer.first, buffer.elements);
      break;
    case BufferLayout::gathered_row_shards:
    case BufferLayout::gathered_element_shards:
      for (int rank = 0; rank < layout.shards; ++rank)
        append_shard(ranges, layout, rank, rank * layout.shard_elements);
      break;
    case BufferLayout::flat_range: append_flat(ranges, layout, buffer.first, buffer.elements); break;
    case BufferLayout::flat: append_flat(ranges, layout, 0, layout.flat_elements); break;
    case BufferLayout::flat_shard:
      append_flat(ranges, layout, run.part(buffer) * layout.flat_shard_elements(),
                  layout.flat_shard_elements());
      break;
    case BufferLayout::trained_flat_shard:
      append_trained(ranges, layout, run.part(buffer) * layout.flat_shard_elements(),
                     layout.flat_shard_elements());
      break;
  }
  return ranges;
}

std::vector<ElementRange> common_ranges(const RunState& run, const Buffer& source,
                                        const Buffer& destination) {
  const bool joined = source.layout != BufferLayout::separate_parameters &&
                      destination.layout != BufferLayout::separate_parameters;
  if (joined && source.layout == destination.layout && source.parameters == destination.parameters &&
      source.shards == destination.shards && source.alignment == destination.alignment &&
      source.end_alignment == destination.end_alignment && source.first == destination.first) {
    return {{0, 0, std::min(source.elements, destination.elements)}};
  }
  std::vector<HeldRange> from = held_ranges(run, source);
  std::stable_sort(from.begin(), from.end(),
                   [](const auto& a, const auto& b) { return a.parameter < b.parameter; });
  std::vector<ElementRange> ranges;
  for (const HeldRange& to : held_ranges(run, destination)) {
    auto piece = std::lower_bound(
        from.begin(), from.end(), to.parameter,
        [](const HeldRange& held, ParameterId parameter) { return held.parameter < parameter; });
    for (; piece != from.end() && piece->parameter == to.parameter; ++piece) {
      const std::int64_t first = std::max(piece->first, to.first);
      const std::int64_t last = std::min(piece->first + piece->count, to.first + to.count);
      if (first < last)
        append_joined(ranges,
                      {piece->offset + first - piece->first, to.offset + first - to.first, last - first},
                      joined);
    }
  }
  return ranges;
}

std::vector<ElementRange> padding_ranges(const RunState& run, const Buffer& buffer) {
  std::vector<ElementRange> ranges;
  if (buffer.layout == BufferLayout::separate_parameters) return ranges;
  std::int64_t end = 0;
  for (const HeldRange& held : held_ranges(run, buffer)) {
    if (held.count == 0) continue;
    append_joined(ranges, {end, end, held.offset - end});
    end = held.offset + held.count;
  }
  append_joined(ranges, {end, end, buffer.elements - end});
  return ranges;
}

}  // namespace shardlab
