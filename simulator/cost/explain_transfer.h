// Why a collective takes as long as it is predicted to: algorithm, protocol, channels, wires, and the time's
// parts.
#pragma once

#include "engine/plan/instruction_words.h"
#include "simulator/cost/breakdown.h"
#include "simulator/network/transfer_time.h"

namespace shardlab {

// `nanoseconds`: what a calibration made of the time, or the time itself.
CostBreakdown explain_transfer(const Device& device, const GroupShape& shape, InstructionKind kind,
                               Bytes bytes, const TransferTime& time, double nanoseconds);

}  // namespace shardlab
