// What instructions of a kind do, in a sentence.
#pragma once

#include <string_view>

#include "engine/plan/instruction.h"

namespace shardlab {

std::string_view purpose_of(InstructionKind kind);

}  // namespace shardlab
