#include "engine/pictures/memory_picture.h"

#include <algorithm>

#include "engine/trace/memory_timeline.h"

namespace shardlab {
namespace {

BytesByGroup by_group(const BytesByClass& by_class) {
  BytesByGroup groups{};
  for (std::size_t i = 0; i < by_class.size(); ++i)
    groups[static_cast<std::size_t>(group_of(static_cast<BufferClass>(i)))] += by_class[i];
  return groups;
}

}  // namespace

MemoryGroup group_of(BufferClass buffer_class) {
  switch (buffer_class) {
    case BufferClass::parameter:
    case BufferClass::parameter_shard: return MemoryGroup::parameters;
    case BufferClass::gathered_parameters:
    case BufferClass::gather_buffer: return MemoryGroup::gathered;
    case BufferClass::gradient:
    case BufferClass::gradient_shard:
    case BufferClass::reduce_buffer: return MemoryGroup::gradients;
    case BufferClass::optimizer_state: return MemoryGroup::optimizer;
    case BufferClass::activation:
    case BufferClass::activation_gradient: return MemoryGroup::activations;
    case BufferClass::batch:
    case BufferClass::constant:
    case BufferClass::scalar:
    case BufferClass::workspace: break;
  }
  return MemoryGroup::other;
}

char letter_of(MemoryGroup group) {
  constexpr std::array<char, k_memory_groups> k_letters = {'P', 'O', 'D', 'G', 'A', 'w'};
  return k_letters[static_cast<std::size_t>(group)];
}

const char* colour_of(MemoryGroup group) {
  constexpr std::array<const char*, k_memory_groups> k_colours = {"#4e79a7", "#b07aa1", "#f1b04c",
                                                                  "#76b7b2", "#e15759", "#9d9da3"};
  return k_colours[static_cast<std::size_t>(group)];
}

MemoryPicture memory_picture(const StepPlan& plan, const RankTrace& rank,
                             const MemoryPictureOptions& options) {
  MemoryPicture picture;
  picture.limit = options.limit;
  const std::vector<StepPhase> phases = phases_of(plan);
  const std::size_t count = rank.memory.size();
  const std::size_t columns = std::min(options.columns, count);
  for (std::size_t c = 0; c < columns; ++c) {
    const auto begin = rank.memory.begin() + static_cast<std::ptrdiff_t>(c * count / columns);
    const auto end = rank.memory.begin() + static_cast<std::ptrdiff_t>((c + 1) * count / columns);
    const auto highest = std::max_element(
        begin, end, [](const MemorySample& a, const MemorySample& b) { return a.peak < b.peak; });
    picture.columns.push_back({highest->instruction, by_group(highest->by_class_at_peak), highest->peak,
                               phases[highest->instruction.index()]});
    if (picture.columns[c].total > picture.columns[picture.peak].total) picture.peak = c;
    const bool holds = options.chosen && std::any_of(begin, end, [&](const MemorySample& sample) {
                         return sample.instruction == *options.chosen;
                       });
    if (holds) picture.chosen = c;
  }
  const Bytes highest = picture.columns.empty() ? Bytes{} : picture.columns[picture.peak].total;
  picture.top = std::max(options.top.value_or(highest), Bytes{1});
  return picture;
}

}  // namespace shardlab
