// Memory over a step as a picture: what is alive, stacked, instruction by instruction.
//
// From left to right go the instructions in the order in which the host issues them, not time. Classes of
// buffers are drawn in six groups. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/words.h"
#include "engine/plan/step_plan.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

enum class MemoryGroup : std::uint8_t { parameters, optimizer, gradients, gathered, activations, other };
template <>
inline constexpr auto k_words<MemoryGroup> =
    std::to_array<Word<MemoryGroup>>({{MemoryGroup::parameters, "parameters"},
                                      {MemoryGroup::optimizer, "optimizer state"},
                                      {MemoryGroup::gradients, "gradients"},
                                      {MemoryGroup::gathered, "gathered"},
                                      {MemoryGroup::activations, "activations"},
                                      {MemoryGroup::other, "other"}});
inline constexpr std::size_t k_memory_groups = k_words<MemoryGroup>.size();

MemoryGroup group_of(BufferClass buffer_class);
// The letter of a group in texts, and its colour (#rrggbb).
char letter_of(MemoryGroup group);
const char* colour_of(MemoryGroup group);

using BytesByGroup = std::array<Bytes, k_memory_groups>;

struct MemoryColumn {
  InstructionId instruction;  // of those that the column stands for, the one with the highest peak
  BytesByGroup bytes{};       // at that peak
  Bytes total;
  StepPhase phase = StepPhase::forward;
};

struct MemoryPicture {
  std::vector<MemoryColumn> columns;
  Bytes top;                          // of the axis
  std::optional<Bytes> limit;         // drawn as a line, where it is below the top
  std::size_t peak = 0;               // the highest column
  std::optional<std::size_t> chosen;  // the column of the chosen instruction
};

struct MemoryPictureOptions {
  std::size_t columns = 64;
  std::optional<Bytes> top;  // so that two pictures have one scale; else the highest
  std::optional<Bytes> limit;
  std::optional<InstructionId> chosen;
};

// The trace must fit the plan (check_trace) and have memory; else there are no columns.
MemoryPicture memory_picture(const StepPlan& plan, const RankTrace& rank,
                             const MemoryPictureOptions& options);

// Lines of text with an axis, the phases below and a legend; `rows` high.
std::string memory_text(const MemoryPicture& picture, int rows = 12);

// An <svg> element, as wide as its place.
std::string memory_svg(const MemoryPicture& picture, const std::string& title);

}  // namespace shardlab
