// Constant tensors of a model: computed from its configuration, never trained, the same on every rank.
#pragma once

#include <cstdint>
#include <span>

#include "engine/model/model_graph.h"

namespace shardlab {

// How frequencies are scaled, as rope_scaling of config.json says; transformers 5, modeling_rope_utils.py.
enum class RopeScaling : std::uint8_t { none, linear, llama3, yarn };

// Attributes of a rotary table of shape [2, positions, head_dim / 2] (cosines, then sines).
Attributes rope_table_attributes(double theta, RopeScaling scaling, double factor,
                                 double low_frequency_factor, double high_frequency_factor,
                                 double original_positions);

// The table of yarn (arXiv 2309.00071): pairs below `ramp_low` keep their frequency, those above `ramp_high`
// have it divided by `factor`, between them it changes linearly; cosines and sines are multiplied by
// `amplitude`.
Attributes yarn_table_attributes(double theta, double factor, double ramp_low, double ramp_high,
                                 double amplitude);

// Linear biases of attention by key position, [heads, positions] (arXiv 2108.12409), as two families make
// them. Falcon: slope * position rounded to bfloat16, times `factor`; Mpt: slope * (position - last
// position), slopes down to 2^-max. transformers 5, modeling_falcon.py and modeling_mpt.py.
Attributes falcon_alibi_attributes(double factor);
Attributes mpt_alibi_attributes(double bias_max);

// 1 where a query may not look, at later keys, and 0 elsewhere: [batch, 1, queries, keys].
Attributes causal_mask_attributes();

// 1 where a query may look, at its last `window` keys, itself included, and 0 elsewhere: [1, 1, queries,
// keys], which all sequences of a batch read. transformers 5.23, masking_utils.py sdpa_mask.
Attributes seen_mask_attributes(std::int64_t window);

// Added to scores: 0 where a query may look, the lowest number of the tensor's dtype where it may not,
// [batch, 1, queries, keys]; with a window it sees its last so many keys, itself included (0: all earlier
// ones). transformers 5.23, masking_utils.py eager_mask.
Attributes added_mask_attributes(std::int64_t window);

// Falcon's as transformers hands it to attention by default: a matrix for each head of each sequence, [batch,
// heads, queries, keys], with the lowest number of the tensor's dtype at later keys.
Attributes with_whole_matrices(const Attributes& falcon_alibi);

// The same table with its frequencies rounded to a narrower dtype first, as casting the buffer that holds
// them does.
Attributes with_frequency_dtype(const Attributes& rope_table, DType dtype);

// The same table with each cosine and sine twice, [2, positions, rotary elements], as transformers multiplies
// with it.
Attributes with_both_halves(const Attributes& rope_table);
bool has_both_halves(const Attributes& rope_table);

// Fills the values of a tensor whose role is constant. `values` has the tensor's element count.
void fill_constant(const Tensor& tensor, std::span<float> values);

}  // namespace shardlab
