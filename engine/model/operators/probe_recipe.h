// How a calibration measures operators alone: what the shape of such a probe is called, from where it comes,
// and the graph that is run. Operators alike share a recipe; OperatorType::probe says whose it is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/model/model_graph.h"

namespace shardlab {

// {"rows": 512, "width": 256}
using ProbeShape = std::map<std::string, std::int64_t>;

// A size of transformer, from which a recipe takes what it needs.
struct ProbeSize {
  std::int64_t batch = 1, sequence = 1;
  std::int64_t width = 1;
  std::int64_t inner_width = 1;  // a gated activation's width; what comes out of a product
  std::int64_t heads = 1, kv_heads = 1, head_dim = 1;
  std::int64_t vocabulary = 1;

  std::int64_t rows() const { return batch * sequence; }
};

// Operators that are measured at the same sizes.
enum class ProbeGroup : std::uint8_t {
  layer,  // the memory-bound operators of a layer
  product,
  attention,
  table,  // rows by token
  loss,
};

struct ProbeRecipe {
  ProbeGroup group = ProbeGroup::layer;
  // The shape at one of the sizes that every calibration measures; null where it measures none of them.
  ProbeShape (*at)(const ProbeSize& size) = nullptr;
  // The shape of an operator of a model; none where the recipe does not describe it.
  std::optional<ProbeShape> (*of)(const ModelGraph& graph, const Operator& op) = nullptr;
  // A graph of one operator of that shape. Throws std::out_of_range where the shape lacks a number. Null
  // where the operator is measured as another is.
  ModelGraph (*graph)(const OperatorType& type, DType dtype, const ProbeShape& shape) = nullptr;
  const OperatorType* measured_as = nullptr;
};

extern const ProbeRecipe k_row_probe;            // one input of rows x width
extern const ProbeRecipe k_norm_probe;           // the same, with a weight of that width
extern const ProbeRecipe k_sum_probe;            // two inputs
extern const ProbeRecipe k_inner_row_probe;      // one input, as wide as a feed-forward
extern const ProbeRecipe k_gated_probe;          // two inputs, as wide as a feed-forward
extern const ProbeRecipe k_cap_probe;            // one input and a cap
extern const ProbeRecipe k_cast_probe;           // to the other of float32 and bfloat16
extern const ProbeRecipe k_rope_probe;           // batch, sequence, heads, head_dim
extern const ProbeRecipe k_eager_rope_probe;     // the same
extern const ProbeRecipe k_packed_rope_probe;    // kv_heads besides
extern const ProbeRecipe k_product_probe;        // rows, inputs, outputs
extern const ProbeRecipe k_added_product_probe;  // as a product
extern const ProbeRecipe k_attention_probe;      // batch, sequence, heads, kv_heads, head_dim
extern const ProbeRecipe k_embedding_probe;      // rows, width, vocabulary
extern const ProbeRecipe k_loss_probe;           // rows, vocabulary; width is 1

}  // namespace shardlab
