// Frozen weights in four bits as a graph pass: which linear layers transformers and bitsandbytes convert, and
// what is stored of them.
#pragma once

#include "engine/base/result.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// Every frozen linear layer but the head (transformers 5.23, integrations/bitsandbytes.py
// replace_with_bnb_linear and quantizers/base.py get_keys_to_not_convert): those whose class is torch's
// Linear or transformers' Conv1D, not a class of a model's own, as Falcon has, and no adapter.
//
// A weight becomes [bytes / element size, 1] of its stored dtype, two of its elements in each byte
// (Linear4bit with bnb_4bit_quant_storage: the dtype that FSDP flattens); its scales, one for 64 elements,
// become constants that every rank has whole (bitsandbytes 0.50.2, functional.py quantize_4bit). Left out:
// tables of 16 numbers a layer. The pass comes behind adapters and whatever freezes.
//
// Errors: a model in which no layer is converted; a weight that is no whole number of elements of the stored
// dtype (bad_input at model.quantized).
Status quantize_frozen_weights(ModelGraph& graph, Quantization quantization);

}  // namespace shardlab
