// How operators become eager ones where more changes than the type: the functions that
// OperatorType::make_eager names. Each fails where the modules of transformers compute what no eager operator
// describes.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// gelu_new where the activation's module writes it out in Python; else gelu stays.
Status make_gelu_eager(ModelGraph& graph, Operator& op);

// The rotary table gets cosines and sines for both halves of a head, in the dtype they are multiplied in.
// Rows that hold q, k and v (Falcon) leave as all heads of q, of k, of v.
Status make_rope_eager(ModelGraph& graph, Operator& op);

// Attention with alibi: that of Mpt reads a mask that all layers share, that of Falcon a matrix for each
// head. With a soft cap on its scores (Gemma 2) it computes step by step, with a mask that all layers of the
// same window share. With a window that is not longer than the sequence it is one kernel that is handed a
// mask, which they share likewise. Else attention is one kernel in torch too; behind an eager rotary
// embedding it reads sections.
Status make_attention_eager(ModelGraph& graph, Operator& op);

// Attention of queries, keys and values apart, without biases: step by step, with a mask that all layers of
// the same window share.
void make_attention_stepped(ModelGraph& graph, Operator& op);

// Whether transformers makes a mask for attention's window: where it is as long as the sequence too, though
// it hides nothing that causality does not (5.23, masking_utils.py _ignore_causal_mask_sdpa).
bool is_handed_a_mask(const ModelGraph& graph, const Operator& op);

}  // namespace shardlab
