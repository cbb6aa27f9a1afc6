// What a segment reads first and nobody after it is given back inside the segment.
//
// In PyTorch a hidden state lives as long as a variable or autograd refers to it. Where a module of the
// segment is called with it (`hidden_states = self.norm(hidden_states)`), the variable is bound anew when the
// module returns; what follows in the segment, as the head and the loss behind the last norm, runs without
// it. (transformers 5.23, modeling_llama.py LlamaModel.forward.)
#pragma once

#include "engine/model/partition.h"

namespace shardlab {

// Adds the frees to the forward programs of lowered segments and lists them in
// SegmentPrograms::forward_frees. Inputs that a backward, another segment or a recomputation reads stay.
void free_inputs_within_segments(const ModelGraph& graph, Partition& partition);

}  // namespace shardlab
