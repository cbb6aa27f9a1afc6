// rms_norm as the transformers modules compute it, operator by operator (5.23, modeling_llama.py
// LlamaRMSNorm; with `offset` modeling_gemma.py GemmaRMSNorm): x in float32, its square, the mean, + epsilon,
// rsqrt, the product, back to x's dtype, times the weight. Gemma multiplies in float32 with 1 + weight and
// casts last. Inputs, parameters and attributes of rms_norm.
//
// Keeps what autograd keeps: x in float32 (x itself when it is that), one reciprocal deviation a piece, and
// for the weight's gradient the normalized tensor, in x's dtype; Gemma in float32, and 1 + weight.
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {
namespace {

// What sizes and steps depend on. Bytes: of all elements in float32, of all in x's dtype, of one float32 a
// piece, of the weight.
struct Norm {
  Bytes wide, narrow, pieces, weight;
  Shape shape, weight_shape;
  std::int64_t rows;
  DType dtype;
  bool casts, gemma, of_input, of_weight;

  Norm(const ModelGraph& graph, const Operator& op) {
    const Tensor& x = graph.tensor(op.inputs[0]);
    const Parameter& parameter = graph.parameter(op.parameters[0]);
    shape = x.shape;
    weight_shape = parameter.shape;
    dtype = x.dtype;
    rows = element_count(shape) / parameter.shape[0];
    wide = bytes_of(element_count(shape), DType::float32);
    narrow = x.bytes();
    pieces = bytes_of(rows, DType::float32);
    weight = bytes_of(parameter.shape[0], DType::float32);
    casts = dtype != DType::float32;
    gemma = op.attributes.get_or(attribute::k_offset, 0) != 0;
    of_input = x.requires_grad;
    of_weight = parameter.requires_grad;
  }
  Bytes normed() const { return gemma ? wide : narrow; }
};

void list_kept(const Norm& n, OperatorDescription& description) {
  if (n.of_input && n.casts) description.extras.push_back({"wide", n.shape, DType::float32});
  if (n.of_input && !n.casts) description.saved_inputs = 1;
  if (n.of_input) description.extras.push_back({"reciprocal_deviation", {n.rows}, DType::float32});
  if (n.of_weight) description.extras.push_back({"normed", n.shape, n.gemma ? DType::float32 : n.dtype});
  if (n.of_input && n.gemma) description.extras.push_back({"scale", n.weight_shape, DType::float32});
}

EagerSteps forward_steps(const Norm& n) {
  EagerSteps steps;
  if (n.casts && !n.of_input) steps.take(n.wide);
  if (n.casts) steps.kernel(n.narrow + n.wide);
  steps.make(n.wide, n.wide * 2);           // square
  steps.make(n.pieces, n.wide + n.pieces);  // mean
  steps.give(n.wide);
  steps.make(n.pieces, n.pieces * 2);  // + epsilon
  if (!n.of_input) steps.take(n.pieces);
  steps.kernel(n.pieces * 2);  // rsqrt
  steps.give(n.pieces * 2);
  const bool fresh = !n.of_weight || (n.casts && !n.gemma);  // the product is not what is kept
  if (fresh) steps.take(n.wide);
  steps.kernel(n.wide * 2 + n.pieces);  // times rsqrt
  if (n.gemma) {
    if (n.casts) steps.make(n.weight, n.weight + n.weight / 2);
    if (!n.of_input) steps.take(n.weight);
    steps.kernel(n.weight * 2);  // 1 + weight
    if (n.casts) steps.give(n.weight);
    if (n.casts) steps.take(n.wide);
    steps.kernel(n.wide * 2 + n.weight);  // times it
    if (n.casts) steps.kernel(n.wide + n.narrow);
    return steps;
  }
  if (n.casts && !n.of_weight) steps.take(n.narrow);
  if (n.casts) steps.kernel(n.wide + n.narrow);
  steps.kernel(n.narrow * 2);  // times weight
  return steps;
}

// From the gradient of the normalized tensor in float32, `steps` holding it, to that of x.
void input_steps(const Norm& n, EagerSteps& steps) {
  if (n.casts) steps.take(n.wide);
  steps.kernel(n.wide * 2 + n.pieces);      // times rsqrt: the first part
  steps.make(n.wide, n.wide * 3);           // times x
  steps.make(n.pieces, n.wide + n.pieces);  // summed
  steps.give(n.wide * 2);
  steps.make(n.pieces, n.pieces * 2);  // -0.5 of it
  steps.make(n.pieces, n.pieces * 2);  // rsqrt^3
  steps.make(n.pieces, n.pieces * 3);
  steps.give(n.pieces * 3);
  steps.make(n.wide, n.wide + n.pieces);  // of the mean
  steps.give(n.pieces);
  steps.make(n.wide, n.wide * 2);  // x^1
  steps.make(n.wide, n.wide * 2);  // 2 x
  steps.make(n.wide, n.wide * 3);  // the second part
  steps.give(n.wide * 3);
  steps.kernel(n.wide * 3);  // the sum of both
  steps.give(n.wide);
  if (n.casts) {
    steps.allocate_results();
    steps.kernel(n.wide + n.narrow);
  }
}

EagerSteps backward_steps(const Norm& n) {
  EagerSteps steps;
  const Bytes each = n.normed();
  if (n.gemma && n.casts) steps.make(n.wide, n.narrow + n.wide);
  if (n.of_input) steps.make(each, each * 2);
  if (n.of_weight) {
    steps.make(each, each * 3);
    const Bytes sums = n.gemma || !n.casts ? n.weight : n.weight / 2;
    steps.make(sums, each + sums);
    steps.give(each);
    if (n.gemma && n.casts) steps.make(n.weight / 2, n.weight + n.weight / 2);
    if (n.gemma && n.casts) steps.give(n.weight / 2);
    steps.kernel(n.weight);  // to the parameter's gradient
    steps.give(sums);
  }
  if (n.gemma && n.casts) steps.give(n.wide);
  if (!n.of_input) return steps;
  if (!n.gemma && n.casts) steps.make(n.wide, n.narrow + n.wide);
  if (!n.gemma && n.casts) steps.give(n.narrow);
  input_steps(n, steps);
  return steps;
}

OperatorDescription describe_eager_rms_norm(const ModelGraph& graph, const Operator& op) {
  const Norm norm(graph, op);
  OperatorDescription description;
  list_kept(norm, description);
  describe_forward(description, forward_steps(norm));
  describe_backward(description, backward_steps(norm));
  return description;
}

}  // namespace

extern const OperatorType k_eager_rms_norm{
    .name = "eager_rms_norm",
    .describe = describe_eager_rms_norm,
    .probe = &k_norm_probe,
};

}  // namespace shardlab
