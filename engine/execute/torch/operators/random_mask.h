// Masks of dropout: uint8, 1 where an element is kept. Private to this folder.
#pragma once

#include <cstdint>
#include <span>

#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

// Fills `mask` [sequences, ...], contiguous: an element is 0 with probability `dropped`. The part of a
// sequence depends on its seed alone, on one kind of device; a processor and a GPU draw different ones.
// Throws when there are not as many seeds as sequences.
void draw_mask(double dropped, std::span<const std::uint64_t> seeds, const at::Tensor& mask);

// y = x where the mask says so, divided by 1 - dropped, else 0. All contiguous and of as many elements; y and
// x of one dtype, perhaps one tensor. Computes in float32 and allocates nothing.
void apply_mask(double dropped, const at::Tensor& x, const at::Tensor& mask, const at::Tensor& y);

}  // namespace shardlab
