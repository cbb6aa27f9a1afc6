// The arithmetic of a reduction.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "engine/execute/torch/communication/communicator.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// result = scale * (parts[0] + parts[1] + ...), added in this order in float32 (float64 for float64). All are
// flat and of one dtype and length; result may be one of the parts.
void sum_parts(const at::Tensor& result, std::span<const at::Tensor> parts, double scale);
// The largest of each element, of bytes too.
void max_parts(const at::Tensor& result, std::span<const at::Tensor> parts);

// What a rank has sent through all its groups.
using SentTotals = std::map<std::pair<InstructionKind, int>, Sent>;  // by kind and size of group

SentTotals sent_so_far(const Communicators& communicators);
std::vector<SentInStep> sent_between(const SentTotals& before, const SentTotals& after);

}  // namespace shardlab
