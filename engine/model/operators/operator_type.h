// What every kind of operator tells about itself.
//
// An operator has one description (here, read by the planner and the simulator) and one implementation
// (engine/execute/torch/operators, run by the real executor). Both speak of the same tensors: what the
// description says is allocated, kept and freed is what the implementation is handed, so predicted and
// measured memory agree by construction; what a library allocates behind an implementation's back is
// workspace and is reported apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/model/model_graph.h"

namespace shardlab {

struct ProbeRecipe;  // probe_recipe.h

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
  std::int64_t batch = 1;            // matmul: products that each kernel makes
  int kernels = 1;
  bool float8 = false;  // matmul: of operands in eight bits
  bool masked = false;  // attention: of all pairs, and a matrix that the kernel reads hides some
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

// Among the blocks of an operator's temporaries: here, not at its end, is freed what backward needs no more
// of what forward kept, or in forward the inputs that nobody reads any more.
inline constexpr Bytes k_freed_here = {std::numeric_limits<std::int64_t>::min()};

// Likewise: here is allocated one result, of forward's outputs and then its extras, or of backward's
// gradients of inputs; no other block stands for it.
constexpr Bytes result_block(std::size_t index) {
  return {k_freed_here.value + 1 + static_cast<std::int64_t>(index)};
}
inline constexpr std::int64_t k_most_results = 64;
constexpr bool is_result_block(Bytes block) {
  return block.value > k_freed_here.value && block.value <= k_freed_here.value + k_most_results;
}
constexpr std::size_t result_of(Bytes block) {
  return static_cast<std::size_t>(block.value - k_freed_here.value - 1);
}

// Likewise, in backward: here is given back one of the extras that forward kept.
constexpr Bytes given_extra_block(std::size_t index) {
  return {k_freed_here.value + 1 + k_most_results + static_cast<std::int64_t>(index)};
}
constexpr bool is_given_extra_block(Bytes block) {
  return block.value > k_freed_here.value + k_most_results &&
         block.value <= k_freed_here.value + 2 * k_most_results;
}
constexpr std::size_t given_extra_of(Bytes block) {
  return static_cast<std::size_t>(block.value - k_freed_here.value - 1 - k_most_results);
}

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
  // Not zero: backward makes its gradients of inputs last. They are allocated when it has got that far; this
  // much is the most that it takes before, and backward_temporaries the most beside them.
  Bytes backward_temporaries_before;
  // How much of its extras backward has given back when either is at its most; both are less by that.
  Bytes backward_given_before, backward_given;
  // These temporaries block by block, in order: taken (above zero), given back (below), zero where the
  // results are allocated that are not made first, k_freed_here, result_block and given_extra_block. Empty:
  // one block of all.
  std::vector<Bytes> forward_blocks, backward_blocks;
  std::vector<Work> forward;
  std::vector<Work> backward;
};

// Same graph, same operator, same description: pure. Speaks of an operator that has a backward; what it says
// of saved tensors and backward's work follows from the inputs and parameters that require gradients, as in
// autograd.
using DescribeFunction = OperatorDescription (*)(const ModelGraph& graph, const Operator& op);

// Makes an operator compute as the transformers modules do (model.implementation: eager): changes its type,
// and the operator and the tensors around it where more than the type differs. Errors: what no eager operator
// describes.
using EagerFunction = Status (*)(ModelGraph& graph, Operator& op);

// What an operator's time counts as where a table adds times up.
enum class OperatorCategory : std::uint8_t {
  memory_bound,
  product,  // matrix products, alone or within a loss
  attention,
};

// What torch.autocast does with an operator (torch 2.11, ATen/autocast_mode.h).
enum class AutocastRule : std::uint8_t {
  widest,  // on no list: computes in the widest dtype of its inputs and parameters, by type promotion
  lower,   // computes in autocast's dtype: inputs are cast, and parameters where casts_parameters says so
  full,    // computes in float32: inputs are cast
  widens,  // some of its steps compute in float32, and so does what follows them: inputs stay as they are
  undescribed,  // its steps would have several dtypes, which its description does not say
};

// Everything the program knows of a kind of operator besides how it is run.
struct OperatorType {
  std::string_view name;
  DescribeFunction describe;
  OperatorCategory category = OperatorCategory::memory_bound;

  // How calibrations measure it; null: they do not, and predictions take the figures of the machine's memory
  // and products.
  const ProbeRecipe* probe = nullptr;
  bool common = false;  // part of most models: measured at many sizes, others at one

  // What it becomes with model.implementation: eager: this type, or what the function makes of it. Neither:
  // it stays.
  const OperatorType* eager_type = nullptr;
  EagerFunction make_eager = nullptr;
  bool table_in_own_dtype = false;  // input 1, a constant, must have the dtype of input 0

  AutocastRule autocast = AutocastRule::widest;
  bool casts_parameters = false;     // its description knows parameters of another dtype (k_parameter_dtype)
  bool promotes_with_table = false;  // input 1, a constant, counts for the widest dtype too

  bool drops = false;  // its implementation knows the attribute dropout; others are predicted with it

  // The output that says how many rows each expert has (int64), where there is one: runs add it up.
  std::optional<std::size_t> expert_counts{};
};

// What the operator's type says of it, with nothing kept and no backward where no output requires a gradient.
OperatorDescription describe_operator(const ModelGraph& graph, const Operator& op);

// All operator types, sorted by name. To add one: a file in this folder, a line in operator_list.h.
const std::vector<const OperatorType*>& operator_types();
const OperatorType* find_operator_type(std::string_view name);

// Whether the model sends tokens to experts.
bool has_experts(const ModelGraph& graph);

}  // namespace shardlab
