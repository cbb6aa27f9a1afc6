// Which instructions work on host memory, and what a step moves between memory spaces.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/plan/step_plan.h"

namespace shardlab {

struct SpacePair {
  MemorySpace from = MemorySpace::device;
  MemorySpace to = MemorySpace::device;
  friend bool operator==(const SpacePair&, const SpacePair&) = default;
};

// The spaces that an instruction copies between: its first read buffer lies in another one than its first
// written one. Nothing for other instructions, and for copies within host memory.
std::optional<SpacePair> transfer_of(const StepPlan& plan, const Instruction& instruction);

// Whether it reads a drive or writes to one.
bool uses_drive(const StepPlan& plan, const Instruction& instruction);

// Whether a processor does it: it names buffers, and all of them lie in host memory. Such work holds the
// host until it is done.
bool runs_on_host(const StepPlan& plan, const Instruction& instruction);

// What one rank moves in a step from one space to another.
struct TransferTotal {
  MemorySpace from = MemorySpace::device;
  MemorySpace to = MemorySpace::device;
  std::int64_t count = 0;  // instructions
  Bytes bytes;             // as they arrive

  friend bool operator==(const TransferTotal&, const TransferTotal&) = default;
};

// In the order of their spaces; empty where everything stays where it is.
std::vector<TransferTotal> transfers_of(const StepPlan& plan);

}  // namespace shardlab
