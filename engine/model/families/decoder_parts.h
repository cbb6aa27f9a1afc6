// The pieces that decoder families are written with: modules with their parameters in definition order, and
// the operators that use them. A family defines its modules with the define_ functions, then runs them in
// execution order. One writer, one graph; not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/graph_builder.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {

// Uniform weights with the standard deviation of a normal distribution are sqrt(3) times as wide.
inline constexpr double k_uniform_over_normal = 1.7320508075688772;

// A module with a weight and perhaps a bias, applied to the last dimension.
struct LinearPart {
  ModuleId module;
  std::vector<ParameterId> parameters;
  std::int64_t outputs = 0;
  bool transposed = false;  // stored as [inputs, outputs]
};

enum class NormKind : std::uint8_t {
  rms,         // x / rms(x) * w
  rms_offset,  // x / rms(x) * (1 + w)
  layer,       // with a bias
  layer_without_bias,
};

struct NormPart {
  ModuleId module;
  std::vector<ParameterId> parameters;
  NormKind kind = NormKind::rms;
  bool low_precision = false;  // under torch.autocast in its dtype
};

// gelu_tanh serves gelu_new and gelu_pytorch_tanh, which differ in how they are written down only.
enum class Activation : std::uint8_t { silu, gelu, gelu_tanh };

// Heads of an attention, and what changes its scores. Zeros: not given.
struct AttentionPart {
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  Packing packed = Packing::separate;
  double scale = 0, soft_cap = 0, dropout = 0;
  std::int64_t window = 0;
  bool narrow_softmax = false;  // of the modules' steps, in the dtype of the scores
  std::optional<TensorId> bias = {};
};

// A router and its experts, all of one shape, in two stacked weights (transformers 5).
struct ExpertsPart {
  ModuleId module;  // the block around both
  LinearPart router;
  ModuleId experts;
  ParameterId gate_up, down;
  std::int64_t count = 0, per_token = 0, width = 0;  // experts, of a token, of one
  bool normalized = false;                           // weights of a token add up to 1
  bool balanced = false;                             // counts in the balancing loss
};

class DecoderParts {
 public:
  // Weights start uniform with the standard deviation `initializer_range`.
  DecoderParts(std::string family, const GraphOptions& options, double initializer_range);

  LinearPart define_linear(ModuleId parent, std::string_view name, std::int64_t inputs, std::int64_t outputs,
                           bool bias, std::string_view class_name = "Linear");
  // GPT-2's Conv1D: the weight is stored the other way round, and there is a bias.
  LinearPart define_conv1d(ModuleId parent, std::string_view name, std::int64_t inputs, std::int64_t outputs);
  LinearPart define_embedding(ModuleId parent, std::string_view name, std::int64_t rows, std::int64_t width,
                              std::string_view class_name = "Embedding");
  NormPart define_norm(ModuleId parent, std::string_view name, std::string_view class_name,
                       std::int64_t width, NormKind kind);
  // `part` has count, per_token, width, normalized and the block's module; the rest is filled in. Mixtral
  // defines its router before its experts, Qwen behind them.
  void define_experts(ExpertsPart& part, std::string_view prefix, std::int64_t hidden, bool router_first,
                      const char* activation_class);
  // The head: with a weight of its own, or the embedding's.
  LinearPart define_head(ModuleId model, const LinearPart& embedding, bool tied, bool bias);

  // Rows of the table by the batch's tokens, multiplied by `scale` unless that is 0. `padding`: the token
  // whose row receives no gradient.
  TensorId embed(const LinearPart& embedding, std::optional<std::int64_t> padding = {}, double scale = 0);
  TensorId linear(const LinearPart& linear, TensorId x, std::string_view label);
  TensorId norm(const NormPart& norm, TensorId x, double epsilon);
  // Norms each head of q or k, which is as wide as the norm's weight.
  TensorId head_norm(const NormPart& norm, TensorId x, double epsilon, std::string_view label);
  TensorId add(ModuleId module, TensorId a, TensorId b, std::string_view label = "hidden");
  // Drops a share of x, where that is not 0.
  TensorId dropout(ModuleId module, double share, TensorId x);
  TensorId activate(ModuleId module, Activation activation, TensorId x);
  // x through both, one activated times the other.
  TensorId gated(ModuleId module, Activation activation, const LinearPart& gate, const LinearPart& up,
                 TensorId x);
  // The rows of x through the experts they are routed to and back, weighted.
  TensorId run_experts(const ExpertsPart& experts, TensorId x);
  // `turned` of each turned + passed heads are rotated; 0, 0: all.
  TensorId rope(ModuleId module, TensorId x, TensorId table, std::int64_t head_dim, std::string_view label,
                std::int64_t turned = 0, std::int64_t passed = 0);
  TensorId attend(ModuleId module, const AttentionPart& attention, const std::vector<TensorId>& qkv);
  // Mean cross-entropy of `logits` against the batch's targets, with the balancing loss of the experts that
  // were run and count in it, times `router_weight`.
  TensorId loss(ModuleId model, TensorId logits, double router_weight = 0);

  // A constant table over the positions of the sequence.
  TensorId rope_table(const Attributes& attributes, std::int64_t rotary_dim);
  TensorId alibi_table(const Attributes& attributes, std::int64_t heads);

  // [micro-batch, sequence, width]
  Shape rows(std::int64_t width) const;

  GraphBuilder builder;

 private:
  void sum_router(const ExpertsPart& experts, TensorId logits, TensorId chosen);

  double weight_scale_;
  TensorId tokens_, targets_;
  std::optional<TensorId> router_sums_;  // of the layers run so far
  std::int64_t routed_rows_ = 0;
  std::size_t expert_layers_ = 0;
};

}  // namespace shardlab
