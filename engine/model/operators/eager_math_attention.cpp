// attention where torch has no fused kernel for it on the device (sdpa_kernels.h): the formula of
// scaled_dot_product_attention, step by step (torch 2.11, ATen/native/transformers/attention.cpp,
// _scaled_dot_product_attention_math), in float32. q and k each times the root of the scale, keys and values
// repeated for each query head, the product, + a matrix of causality, _safe_softmax, times v, heads put side
// by side. Inputs and attributes of attention with q, k and v apart.
//
// Keeps both operands of both products in float32, one matrix a head, and the probabilities, which softmax's
// backward reads too, and with dropout (the attribute) a mask and what it left of them; values that are
// neither converted, repeated nor copied are the input. torch.matmul copies where batch and heads do not lie
// side by side. Python's and C++'s variables hold converted inputs, repeated keys and scaled queries until
// the product with v is made. Executed FLOPs are those of whole matrices; MFU counts the pairs that causality
// leaves.
#include "engine/model/operators/attention_products.h"
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

// What sizes and steps depend on. Bytes: of all scores in float32; of q, and so of keys or values for all
// query heads, and of keys or values as they come, as they are and in float32; of a matrix of causality, of
// numbers and of bits; of dropout's mask.
struct MathScores {
  std::int64_t batch, heads, sequence, head_dim, scores, pairs;
  DType dtype;
  Bytes wide, whole, part, wide_whole, wide_part, matrix, bits, mask;
  bool grouped;  // several query heads read one key head
  bool casts;    // inputs are not float32
  bool copies;   // matmul copies what lies by token
  bool drops;

  MathScores(const ModelGraph& graph, const Operator& op) {
    const Tensor &q = graph.tensor(op.inputs[0]), &k = graph.tensor(op.inputs[1]);
    batch = q.shape[0];
    sequence = q.shape[1];
    heads = op.attributes.get(attribute::k_heads);
    head_dim = op.attributes.get(attribute::k_head_dim);
    pairs = sequence * sequence;
    scores = saturated_product(batch, heads, pairs);
    dtype = q.dtype;
    wide = bytes_of(scores, DType::float32);
    whole = q.bytes();
    part = k.bytes();
    wide_whole = bytes_of(element_count(q.shape), DType::float32);
    wide_part = bytes_of(element_count(k.shape), DType::float32);
    matrix = bytes_of(pairs, DType::float32);
    bits = Bytes{pairs};
    mask = Bytes{scores};
    drops = op.attributes.get_or(attribute::k_dropout, 0) > 0;
    grouped = op.attributes.get(attribute::k_kv_heads) < heads;
    casts = dtype != DType::float32;
    copies = batch > 1 && heads > 1 && sequence > 1;
  }

  bool keeps_values() const { return grouped || casts || copies; }
  // Which result of forward these are.
  std::size_t probabilities() const { return keeps_values() ? 4 : 3; }
};

// Results of forward: the output, then what list_kept lists; behind v, or in its place, the probabilities.
constexpr std::size_t k_output = 0, k_query = 1, k_key = 2, k_value = 3;

void list_kept(const MathScores& s, OperatorDescription& description) {
  const std::int64_t each = s.batch * s.heads;
  description.extras.push_back({"query", {each, s.sequence, s.head_dim}, DType::float32});
  description.extras.push_back({"key", {each, s.head_dim, s.sequence}, DType::float32});
  if (s.keeps_values())
    description.extras.push_back({"value", {each, s.sequence, s.head_dim}, DType::float32});
  else
    description.saved_inputs = 0b100;
  const Shape scores{s.batch, s.heads, s.sequence, s.sequence};
  description.extras.push_back({"probabilities", scores, DType::float32});
  if (!s.drops) return;
  description.extras.push_back({"drop_mask", scores, DType::uint8});
  description.extras.push_back({"dropped", scores, DType::float32});
}

// Up to the product of q and k, which `steps` holds then, as all variables do.
void score_steps(const MathScores& s, EagerSteps& steps) {
  if (s.casts) {
    steps.make(s.wide_whole, s.whole + s.wide_whole);
    steps.make(s.wide_part, s.part + s.wide_part);
    if (s.grouped || s.copies) {
      steps.make(s.wide_part, s.part + s.wide_part);
    } else {
      steps.result_follows(k_value);
      steps.kernel(s.part + s.wide_part);
    }
  }
  if (s.copies) steps.make(s.wide_whole, s.wide_whole * 2);  // q scaled
  steps.make(s.bits, s.bits);                                // all pairs
  steps.make(s.bits, s.bits * 2);                            // those that are seen
  steps.give(s.bits);
  steps.make(s.matrix, s.bits + s.matrix);
  steps.give(s.bits);
  if (s.grouped) {
    steps.make(s.wide_whole, s.wide_part + s.wide_whole);  // k
    steps.result_follows(k_value);
    steps.kernel(s.wide_part + s.wide_whole);  // v
  }
  const bool turned_first = !s.grouped && s.copies;
  if (turned_first) steps.make(s.wide_whole, s.wide_whole * 2);
  steps.result_follows(k_key);
  steps.kernel(s.wide_whole * 2);  // scaled, or a copy of that
  steps.result_follows(k_query);
  steps.kernel(s.wide_whole * 2);
  steps.take(s.wide);
  if (turned_first) steps.give(s.wide_whole);
}

// _safe_softmax looks for rows that are hidden as a whole.
void softmax_steps(const MathScores& s, EagerSteps& steps) {
  steps.kernel(s.wide * 2 + s.matrix);  // + the matrix
  steps.make(s.wide, s.wide * 2);
  steps.make(Bytes{s.scores}, s.wide + Bytes{s.scores});  // minus infinity
  const Bytes rows{s.scores / s.sequence};
  steps.make(rows, Bytes{s.scores} + rows);
  steps.result_follows(s.probabilities());
  steps.kernel(s.wide * 2 + rows);
  steps.give(rows);
  steps.give(Bytes{s.scores});
  steps.give(s.wide);
  steps.give(s.wide);
  if (!s.drops) return;
  steps.result_follows(s.probabilities() + 1);
  steps.result_follows(s.probabilities() + 2);
  steps.kernel(s.wide * 2 + s.mask);
}

// Kept tensors are there from the start.
EagerSteps forward_steps(const MathScores& s) {
  EagerSteps steps;
  score_steps(s, steps);
  softmax_steps(s, steps);
  const Bytes narrow = bytes_of(s.scores, s.dtype);
  if (s.casts) steps.make(narrow, s.wide + narrow);  // a second result of the formula
  if (!s.grouped && s.copies) {
    steps.result_follows(k_value);
    steps.kernel(s.wide_whole * 2);
  }
  steps.take(s.wide_whole);  // the product with v
  if (s.casts) steps.make(s.whole, s.wide_whole + s.whole);
  steps.result_follows(k_output);
  steps.kernel(s.whole * 2);  // heads side by side
  return steps;
}

// From the gradient of the probabilities, `steps` holding it, to that of the product of q and k.
void score_gradient_steps(const MathScores& s, const OperatorDescription& kept, EagerSteps& steps) {
  steps.take(s.wide);
  steps.make(s.wide, s.wide * 3);  // times the probabilities
  steps.kernel(s.wide * 3);
  steps.give(s.wide);
  steps.give(s.wide);
  steps.give_extra(kept, "probabilities");
}

// The gradients of v, k and q, `steps` holding them for all query heads, to those of the inputs.
void input_gradient_steps(const MathScores& s, EagerSteps& steps) {
  steps.make(s.wide_whole, s.wide_whole * 2);  // k scaled
  steps.give(s.wide_whole);
  if (s.grouped) {
    for (int i = 0; i < 2; ++i) {  // v, then k
      steps.make(s.wide_part, s.wide_whole + s.wide_part);
      steps.give(s.wide_whole);
    }
  }
  steps.make(s.wide_whole, s.wide_whole * 2);  // q scaled
  steps.give(s.wide_whole);
  if (s.casts) {
    for (const auto& [from, to] :
         {std::pair{s.wide_part, s.part}, {s.wide_part, s.part}, {s.wide_whole, s.whole}}) {
      steps.make(to, from + to);
      steps.give(from);
    }
  }
  steps.allocate_results();
  for (const Bytes rows : {s.part, s.part, s.whole}) {  // v, k, q by token
    steps.kernel(rows * 2);
    steps.give(rows);
  }
}

EagerSteps backward_steps(const MathScores& s, const OperatorDescription& kept) {
  EagerSteps steps;
  if (s.casts) steps.make(s.wide_whole, s.whole + s.wide_whole);
  if (s.copies) steps.make(s.wide_whole, s.wide_whole * 2);  // heads apart
  if (s.casts && s.copies) steps.give(s.wide_whole);
  steps.take(s.wide_whole);  // of v
  steps.take(s.wide);        // of the probabilities
  if (s.casts || s.copies) steps.give(s.wide_whole);
  steps.give_extra(kept, "dropped");
  steps.give_extra(kept, "value");
  if (s.drops) {
    steps.make(s.wide, s.wide * 2 + s.mask);
    steps.give(s.wide);
    steps.give_extra(kept, "drop_mask");
  }
  score_gradient_steps(s, kept, steps);
  steps.take(s.wide_whole * 2);  // of k and q
  steps.give(s.wide);
  steps.give_kept();
  input_gradient_steps(s, steps);
  return steps;
}

OperatorDescription describe_eager_math_attention(const ModelGraph& graph, const Operator& op) {
  const MathScores s(graph, op);
  OperatorDescription description;
  list_kept(s, description);
  describe_forward(description, forward_steps(s));
  describe_backward(description, backward_steps(s, description));
  add_products({s.batch, s.heads, s.sequence, s.head_dim}, description);
  return description;
}

}  // namespace

extern const OperatorType k_eager_math_attention{
    .name = "eager_math_attention",
    .describe = describe_eager_math_attention,
    .category = OperatorCategory::attention,
    .autocast = AutocastRule::lower,
    .drops = true,
};

}  // namespace shardlab
