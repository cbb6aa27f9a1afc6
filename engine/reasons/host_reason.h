// Why something moves between device and host memory, or is done by a processor: what the tables of several
// strategies share.
#pragma once

#include <string>

#include "engine/reasons/instruction_context.h"

namespace shardlab {

// A copy from host memory to the device.
bool comes_from_host(const InstructionContext& context);
// A copy from the device to host memory.
bool goes_to_host(const InstructionContext& context);
// A HostWait for a copy to or from host memory.
bool awaits_copy(const InstructionContext& context);
// Work on host memory alone.
bool is_done_on_host(const InstructionContext& context);

// For a copy of parameters to the device.
std::string from_host_text(const InstructionContext& context);
// For a copy of reduced gradients.
std::string to_host_text(const InstructionContext& context);
// For a HostWait on either.
std::string host_wait_text(const InstructionContext& context);

}  // namespace shardlab
