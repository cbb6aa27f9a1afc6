#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/model/attention_form.h"
#include "engine/model/eager.h"
#include "engine/model/families/family.h"
#include "engine/model/families/unknown_family.h"

namespace shardlab {

const std::vector<Family>& families() {
  constexpr std::string_view k_four = "q_proj, k_proj, v_proj, o_proj";
  const std::vector<std::string> two{"q_proj", "v_proj"};
  static const std::vector<Family> list = {
      {"falcon", build_falcon, "query_key_value, dense", {"query_key_value"}},
      {"gemma", build_gemma, k_four, two},
      {"gemma2", build_gemma2, k_four, two},
      {"gpt2", build_gpt2, "c_attn", {"c_attn"}},
      {"llama", build_llama, k_four, two},
      {"mistral", build_mistral, k_four, two},
      {"mixtral", build_mixtral, k_four, two},
      {"mpt", build_mpt, "Wqkv, out_proj", {"Wqkv"}},
      {"phi", build_phi, "q_proj, k_proj, v_proj, dense", {"q_proj", "v_proj", "fc1", "fc2"}},
      {"qwen2", build_qwen2, k_four, two},
      {"qwen3", build_qwen3, k_four, two},
      {"qwen3_moe", build_qwen3_moe, k_four, {}},
      {"smollm3", build_smollm3, k_four, {}}};
  return list;
}

const Family* find_family(const ModelConfig& config) {
  return find_family(config.text_or("model_type", "").value_or(""));
}

const Family* find_family(std::string_view model_type) {
  for (const Family& family : families()) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

namespace {

// Fields that are each allowed may multiply to what no integer holds.
Status check_size(const ModelConfig& config, const ModelGraph& graph) {
  constexpr double k_most = 1e15;
  double total = 0;
  for (const Parameter& parameter : graph.parameters) {
    double elements = 1;
    for (const std::int64_t extent : parameter.shape) elements *= static_cast<double>(extent);
    total += elements;
  }
  if (total <= k_most) return {};
  return bad_input(in_file(config.file()),
                   fmt::format("{:.1e} parameters are more than any model has", total),
                   "look for a field with too many digits");
}

// What a shipped configuration says that its original drops, where nobody has asked for any dropout.
Result<std::string> left_out_dropout(const ModelConfig& config, const GraphOptions& options,
                                     const ModelGraph& graph) {
  constexpr const char* key = "published_dropout";
  const auto drops = [](const Operator& op) { return op.attributes.get_or(attribute::k_dropout, 0.0) > 0; };
  if (options.dropout || !config.has(key) ||
      std::any_of(graph.operators.begin(), graph.operators.end(), drops))
    return std::string();
  SHARDLAB_TRY(const ModelConfig fields, config.object_or_empty(key));
  return fields.text();
}

}  // namespace

Result<ModelGraph> build_model_graph(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(const std::string type, config.text_or("model_type", ""));
  std::vector<std::string> known;
  for (const Family& family : families()) {
    known.emplace_back(family.model_type);
    if (family.model_type != type) continue;
    SHARDLAB_TRY(ModelGraph graph, family.build(config, options));
    SHARDLAB_CHECK_OK(check_size(config, graph));
    SHARDLAB_TRY(graph.published_dropout, left_out_dropout(config, options, graph));
    SHARDLAB_CHECK_OK(use_attention_form(graph, options));
    if (options.implementation == Implementation::eager)
      SHARDLAB_CHECK_OK(
          use_eager_operators(graph, {options.attention == AttentionForm::one_kernel, options.fused_loss,
                                      options.compiled_loss, options.eager_loss, options.compile}));
    graph.implementation = options.implementation;
    SHARDLAB_CHECK_OK(config.check_overrides_were_read());
    return graph;
  }
  if (type.empty()) return bad_input(in_file(config.file()), "model_type: missing", suggestion("", known));
  return unknown_family(config, type, known);
}

}  // namespace shardlab
