// What an optimizer keeps beside each parameter and needs while it steps.
//
// Source: torch 2.11, torch/optim/adam.py, adamw.py and sgd.py: fused kernels update in place; `foreach`
// makes lists with a tensor for every parameter; `loop` (foreach=False) goes from parameter to parameter, and
// the last one's denominator is alive until the next one's is made. adamw_8bit: bitsandbytes 0.45,
// optim/adamw.py and functional.py (optimizer_update_8bit_blockwise), one kernel a tensor that updates in
// place; tensors below 4,096 elements, whose states it keeps in float32, are not told apart here. Paged it
// makes the states of tensors of 100,000 elements or more by cudaMallocManaged (optim/optimizer.py,
// get_state_buffer), those of AdamW in float32 whatever the parameters are in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/plan/buffer.h"

namespace shardlab {

struct TrainSpec;  // engine/scenario/train_spec.h

struct OptimizerRule {
  // Buffers beside each parameter, of its dtype and size; allocated by the first step.
  std::vector<BufferRole> states;
  // The dtype of the states, where it is not the parameter's; the states then lie in blocks of `state_block`
  // elements, each with a float32 scale beside it.
  std::optional<DType> state_dtype{};
  std::int64_t state_block = 0;
  bool paged = false;  // states of large tensors lie in managed memory
  int kernels = 1;     // launched for a tensor
  int passes = 0;      // tensors of the parameter's size that these kernels read or write, once each
};

OptimizerRule optimizer_rule(const TrainSpec& train);

// Whether it is bitsandbytes': one kernel a tensor, that updates in place.
bool updates_by_bitsandbytes(const TrainSpec& train);

inline constexpr std::int64_t k_least_paged_elements = 100'000;

// Most elements of temporaries alive at once in a step over tensors of these sizes, in the order of the
// model's parameters.
std::int64_t optimizer_temporaries(const TrainSpec& train, std::span<const std::int64_t> tensors);

}  // namespace shardlab
