#include "engine/model/attention_form.h"

#include <string>
#include <utility>

#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/eager_forms.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

std::string word_of(AttentionForm form) {
  switch (form) {
    case AttentionForm::masked: return "masked";
    case AttentionForm::stepped: return "eager";
    case AttentionForm::formula: return "math";
    case AttentionForm::unfused: return "unfused";
    case AttentionForm::of_modules:
    case AttentionForm::one_kernel: break;
  }
  return "";
}

bool changes_operators(AttentionForm form) {
  return !word_of(form).empty();
}

Status refuse(const ModelGraph& graph, AttentionForm form, const std::string& what) {
  return bad_input("model.attention",
                   "not supported yet for " + graph.family + ": " + word_of(form) + " with " + what,
                   "nearest that works: auto");
}

Status check_operators(const GraphOptions& options) {
  const std::string word = word_of(options.attention);
  const bool of_modules = options.attention != AttentionForm::unfused;
  if (of_modules && options.implementation != Implementation::eager)
    return bad_input("model.attention",
                     word + " is what modules of PyTorch compute; these operators are fused",
                     "model.implementation: eager, or leave it out");
  if (options.compile == CompileScope::none) return {};
  return bad_input("model.attention", "not supported yet: " + word + " in what model.compile compiles",
                   "model.compile: none, or leave model.attention out");
}

struct Scores {
  bool biases, capped, windowed, packed, groups;

  Scores(const ModelGraph& graph, const Operator& op) {
    const Packing packing = op.attributes.get_or(attribute::k_packed, Packing::separate);
    packed = packing != Packing::separate;
    groups = packing == Packing::groups;
    biases = op.inputs.size() == (packed ? 2 : 4);
    capped = op.attributes.get_or(attribute::k_soft_cap, 0) > 0;
    windowed = is_handed_a_mask(graph, op);
  }
};

Status use_formula(ModelGraph& graph, Operator& op) {
  const Scores scores(graph, op);
  const auto no = [&](const char* what) { return refuse(graph, AttentionForm::formula, what); };
  if (scores.biases) return no("biases");
  if (scores.capped) return no("a soft cap, which no kernel of torch knows");
  if (scores.windowed) return no("a window");
  if (scores.packed) return no("queries, keys and values in one");
  op.type = &k_eager_math_attention;
  return {};
}

// A causal mask like that of a window as long as the sequence, which hides nothing else.
Status hand_masks(ModelGraph& graph, Operator& op) {
  const Scores scores(graph, op);
  const auto no = [&](const char* what) { return refuse(graph, AttentionForm::masked, what); };
  if (scores.biases) return no("biases");
  if (scores.capped) return no("a soft cap, which no kernel of torch knows");
  if (scores.packed) return no("queries, keys and values in one");
  if (!scores.windowed) op.attributes.set(attribute::k_window, graph.sequence_length);
  return {};
}

// Modules that add biases or cap their scores compute step by step by themselves.
Status use_steps(ModelGraph& graph, Operator& op) {
  const Scores scores(graph, op);
  if (scores.biases || scores.capped) return {};
  // Whose modules take them apart as views, which GPT-2's do.
  if (scores.packed && !op.attributes.get_or(attribute::k_narrow_softmax, false))
    return refuse(graph, AttentionForm::stepped, "queries, keys and values in one");
  make_attention_stepped(graph, op);
  return {};
}

Status use_unfused(const ModelGraph& graph, Operator& op) {
  const Scores scores(graph, op);
  if (scores.biases) return refuse(graph, AttentionForm::unfused, "biases");
  if (scores.capped) return refuse(graph, AttentionForm::unfused, "a soft cap");
  if (scores.groups) return refuse(graph, AttentionForm::unfused, "queries, keys and values by group");
  op.type = &k_unfused_attention;
  return {};
}

}  // namespace

Status use_attention_form(ModelGraph& graph, const GraphOptions& options) {
  if (!changes_operators(options.attention)) return {};
  SHARDLAB_CHECK_OK(check_operators(options));
  for (Operator& op : graph.operators) {
    if (op.type != &k_attention) continue;
    switch (options.attention) {
      case AttentionForm::masked: SHARDLAB_CHECK_OK(hand_masks(graph, op)); break;
      case AttentionForm::stepped: SHARDLAB_CHECK_OK(use_steps(graph, op)); break;
      case AttentionForm::formula: SHARDLAB_CHECK_OK(use_formula(graph, op)); break;
      case AttentionForm::unfused: SHARDLAB_CHECK_OK(use_unfused(graph, op)); break;
      case AttentionForm::of_modules:
      case AttentionForm::one_kernel: break;
    }
  }
  return {};
}

}  // namespace shardlab
