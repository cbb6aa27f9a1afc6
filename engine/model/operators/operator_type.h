// What every kind of operator tells about itself.
//
// An operator has one description (here, read by the planner and the simulator) and one implementation
// (engine/execute/torch/operators, run by the real executor). Both speak of the same tensors: what the
// description says is allocated, kept and freed is what the implementation is handed, so predicted and
// measured memory agree by construction; what a library allocates behind an implementation's back is
// workspace and is reported apart.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/units.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// What bounds the time of a piece of work.
enum class WorkKind : std::uint8_t {
  matmul,     // m x k times k x n
  attention,  // fused scaled dot-product attention
  memory,     // reads and writes `bytes`, arithmetic is negligible
};

// One kernel, or several alike: flops and bytes are those of all, m, n and k those of each.
struct Work {
  WorkKind kind = WorkKind::memory;
  std::int64_t m = 0, n = 0, k = 0;  // matmul
  Flops flops;                       // executed
  Flops model_flops;                 // counted in MFU: no recomputation inside the kernel
  Bytes bytes;                       // least traffic to memory
  int kernels = 1;
  int batch = 1;  // matmul: products that each kernel makes
  bool of_weight =
      false;  // matmul: the gradient of a weight; where an operator says it of none, its last one is
};

// A tensor that forward makes only for backward (reciprocal deviations of a norm, log-sum-exp of attention).
struct ExtraTensor {
  std::string_view label;
  Shape shape;
  DType dtype = DType::float32;
};

// Bit i speaks of input (or output) i.
using InputMask = std::uint32_t;

struct OperatorDescription {
  bool has_backward =
      true;  // an output requires a gradient; else nothing below is kept and backward is no work
  InputMask saved_inputs = 0;       // backward reads them
  InputMask saved_outputs = 0;      // backward reads them
  std::vector<ExtraTensor> extras;  // made by forward, read by backward
  InputMask passed_gradients =
      0;  // gradient of the input is the gradient of output 0 itself, the same storage
  InputMask overwritten_inputs = 0;  // gradient of the input is written over the saved input
  InputMask computed_gradients = 0;  // backward writes these gradients whether they are wanted or not
  Bytes forward_workspace;  // allocated and freed within the work by our CPU implementation on one thread,
                            // exactly
  Bytes backward_workspace;
  Bytes forward_temporaries;  // likewise, but by whatever implements it: tensors of the computation itself
  Bytes backward_temporaries;
  std::vector<Work> forward;
  std::vector<Work> backward;
};

// Same graph, same operator, same description: pure. Speaks of an operator that has a backward; what it says
// of saved tensors and backward's work follows from the inputs and parameters that require gradients, as in
// autograd.
using DescribeFunction = OperatorDescription (*)(const ModelGraph& graph, const Operator& op);

struct OperatorType {
  std::string_view name;
  DescribeFunction describe;
};

// What the operator's type says of it, with nothing kept and no backward where no output requires a gradient.
OperatorDescription describe_operator(const ModelGraph& graph, const Operator& op);

// All operator types, sorted by name. To add one: a file in this folder, a line in registry.cpp.
const std::vector<const OperatorType*>& operator_types();
const OperatorType* find_operator_type(std::string_view name);

// Attribute `packed` of attention.
inline constexpr int k_packed_sections = 1;
inline constexpr int k_packed_groups = 2;

extern const OperatorType k_add;
extern const OperatorType k_add_positions;
extern const OperatorType k_attention;
extern const OperatorType k_cast;
extern const OperatorType k_combine;
extern const OperatorType k_cross_entropy;
extern const OperatorType k_dispatch;
extern const OperatorType k_distillation_loss;
extern const OperatorType k_eager_attention;
extern const OperatorType k_eager_cross_entropy;
extern const OperatorType k_eager_geglu;
extern const OperatorType k_eager_gelu_new;
extern const OperatorType k_eager_masked_attention;
extern const OperatorType k_eager_packed_rope;
extern const OperatorType k_eager_rms_norm;
extern const OperatorType k_eager_rope;
extern const OperatorType k_eager_soft_cap;
extern const OperatorType k_eager_swiglu;
extern const OperatorType k_embedding;
extern const OperatorType k_geglu;
extern const OperatorType k_gelu;
extern const OperatorType k_grouped_linear;
extern const OperatorType k_layer_norm;
extern const OperatorType k_linear;
extern const OperatorType k_linear_add;
extern const OperatorType k_rms_norm;
extern const OperatorType k_rope;
extern const OperatorType k_router_loss;
extern const OperatorType k_router_sums;
extern const OperatorType k_soft_cap;
extern const OperatorType k_swiglu;
extern const OperatorType k_token_chunked_loss;
extern const OperatorType k_top_k;
extern const OperatorType k_vocabulary_chunked_loss;

}  // namespace shardlab
