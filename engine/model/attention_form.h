// Attention that a scenario wants computed with all its scores in memory, as a graph pass: by the modules of
// transformers with attn_implementation "eager", by the formula of scaled_dot_product_attention, or as
// Megatron-LM does without flash attention.
#pragma once

#include "engine/base/result.h"
#include "engine/model/graph_builder.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// Before operators become eager ones. The two other forms change nothing. Errors, at model.attention: fused
// or compiled operators, for the first two; attention that no such operator describes.
Status use_attention_form(ModelGraph& graph, const GraphOptions& options);

}  // namespace shardlab
