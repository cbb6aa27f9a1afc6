// Eager operators as a graph pass: the memory-bound operators of a graph become those that compute as the
// transformers modules do, operator by operator. Matrix products, attention that is one kernel in torch too,
// LayerNorm, sums and the experts' operators stay, and so do those that a compiler makes one kernel of.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// The error of a model that has none: bad_input at model.implementation with ErrorCode::no_eager_form.
tl::unexpected<Error> no_eager_form(std::string what);

// What stays one kernel whatever the modules compute.
struct FusedParts {
  bool attention = false;      // with biases, a soft cap or a window, as flash attention with alibi is
  bool loss = false;           // the cross-entropy, as that of flash-attn or Liger is
  bool compiled_loss = false;  // the cross-entropy, as Inductor makes it (compiled.h)
  EagerLoss otherwise{};       // how it is computed where it is neither
  CompileScope compile = CompileScope::none;  // memory-bound operators, likewise
};

// Before anything else looks at the graph: rotary tables change their shape and dtype. Errors: a model whose
// modules compute what no eager operator describes.
Status use_eager_operators(ModelGraph& graph, const FusedParts& fused);

// Whether any attention that is one kernel adds biases to its scores, caps them or has a window, for which
// the modules have other operators or masks.
bool has_changed_scores(const ModelGraph& graph);

// Once units have their dtypes: rotary tables are in the dtype of what they turn, or PyTorch would promote
// silently; under torch.autocast it does, and that is described where the type promotes with its table.
Status check_eager_tables(const ModelGraph& graph, bool autocast);

}  // namespace shardlab
