// Which buffers of a plan are alive when: on the host's clock, counted in instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/step_plan.h"

namespace shardlab::view {

// Alive after each instruction i with begin <= i < end. What the step takes over begins at -1; what it leaves
// ends at the number of instructions. A buffer that is allocated anew has several.
struct BufferLife {
  BufferId buffer;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool alive_after(std::int64_t instruction) const { return begin <= instruction && instruction < end; }
  friend bool operator==(const BufferLife&, const BufferLife&) = default;
};

// By begin, then buffer. The bytes alive after each instruction are live_bytes_after(plan).
std::vector<BufferLife> buffer_lives(const StepPlan& plan);

}  // namespace shardlab::view
