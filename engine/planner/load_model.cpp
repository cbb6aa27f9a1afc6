#include "engine/planner/load_model.h"

#include <filesystem>

#include "engine/model/eager.h"
#include "engine/model/families/family.h"
#include "engine/model/float8.h"
#include "engine/model/freeze.h"
#include "engine/model/lora/add_adapters.h"
#include "engine/model/loss_operators.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/quantize.h"
#include "engine/planner/check_sizes.h"
#include "engine/scenario/choose_implementation.h"
#include "engine/scenario/expert_load.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/resolve_path.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

Status check_experts(const MoeSpec& moe, const ModelGraph& graph) {
  const bool experts = has_experts(graph);
  if (!experts && moe.load.kind != MoeLoadKind::balanced)
    return bad_input("model.moe.load", "this model has no experts over which tokens could spread",
                     "leave it out");
  if (!experts && moe.auxiliary_loss)
    return bad_input("model.moe.auxiliary_loss", "this model has no routers", "leave it out");
  return check_expert_shares(graph);
}

// Buffers of modules are rotary frequencies, which not every family has.
Status check_buffers(const ModelConfig& config, const GraphOptions& options, const ModelGraph& graph) {
  if (options.buffer_dtype == DType::float32) return {};
  GraphOptions as_stored = options;
  as_stored.buffer_dtype = DType::float32;
  SHARDLAB_TRY(const ModelGraph other, build_model_graph(config, as_stored));
  if (structure_hash(other) != structure_hash(graph)) return {};
  return bad_input("precision.buffer",
                   "has no effect: this model has no buffers, which would be rotary frequencies",
                   "leave it out");
}

AttentionForm form_of(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::automatic: return AttentionForm::of_modules;
    case AttentionKind::eager: return AttentionForm::stepped;
    case AttentionKind::masked: return AttentionForm::masked;
    case AttentionKind::math: return AttentionForm::formula;
    case AttentionKind::unfused: return AttentionForm::unfused;
    case AttentionKind::flash:
    case AttentionKind::flash3:
    case AttentionKind::triton:
    case AttentionKind::efficient: break;
  }
  return AttentionForm::one_kernel;
}

// torch 2.11, sdp_utils.cpp: check_batch_size_and_num_heads_dense.
Status check_efficient(const ModelGraph& graph) {
  for (const Operator& op : graph.operators) {
    if (op.type != &k_attention) continue;
    if (op.attributes.get(attribute::k_kv_heads) < op.attributes.get(attribute::k_heads))
      return bad_input("model.attention",
                       "efficient takes no query heads that share a key head, as this model's do",
                       "auto, or flash");
  }
  return {};
}

// Where it would be said of attention that is one kernel anyway, or that the kernel does not take.
Status check_attention(AttentionKind kind, const GraphOptions& options, const ModelGraph& graph) {
  if (kind == AttentionKind::efficient) return check_efficient(graph);
  if (kind != AttentionKind::flash) return {};
  if (options.implementation == Implementation::eager && has_changed_scores(graph)) return {};
  return bad_input("model.attention", "flash has no effect: this model's attention is one kernel already",
                   "leave it out");
}

// Products in eight bits need units for them, and are not described under autocast.
Status check_float8(const Scenario& scenario) {
  if (scenario.model->fp8 == Fp8Scaling::none) return {};
  if (scenario.model->quantized != Quantization::none)
    return bad_input("model.fp8", "weights in few bits have no products in float8", "remove model.quantized");
  if (scenario.precision->autocast)
    return bad_input("model.fp8", "not supported yet: float8 under precision.autocast",
                     "nearest that works: precision.param: bfloat16");
  SHARDLAB_TRY(const Device device, resolve_device(*scenario.cluster));
  if (device.gemm.fp8) return {};
  return bad_input("model.fp8", device.name + " has no products in float8, or nobody states their rate",
                   "leave it out, or another cluster.gpu");
}

Status check_loss(const LossSpec& loss, const GraphOptions& options) {
  if (options.implementation == Implementation::eager) return {};
  const std::string instead = "leave it out, or model.implementation: eager";
  if (loss.fused)
    return bad_input("model.loss.fused", "has no effect: the loss of fused operators is one kernel already",
                     instead);
  if (!loss.upcast)
    return bad_input("model.loss.upcast",
                     "has no effect: the loss of fused operators keeps the logits as they are", instead);
  if (loss.shift != LossShift::of_labels)
    return bad_input("model.loss.shift", "has no effect: the loss of fused operators copies no logits",
                     instead);
  return {};
}

// Our fused operators are one kernel each, whoever calls them.
Status check_compiled(const ModelSpec& model, const GraphOptions& options) {
  if (options.implementation == Implementation::eager) return {};
  const std::string why = "has no effect: fused operators are one kernel each already";
  if (model.compile != CompileScope::none)
    return bad_input("model.compile", why, "model.implementation: eager, or leave it out");
  if (model.loss.compiled)
    return bad_input("model.loss.compiled", why, "model.implementation: eager, or leave it out");
  return {};
}

Result<ModelGraph> load_as_chosen(const Scenario& scenario) {
  SHARDLAB_TRY(const ModelConfig config, read_model_config(scenario));
  GraphOptions options;
  options.micro_batch = scenario.train->micro_batch;
  options.sequence_length = scenario.model->sequence_length;
  options.stored_dtype = scenario.model->dtype;
  options.compute_dtype = scenario.precision->param.value_or(scenario.model->dtype);
  options.buffer_dtype = scenario.precision->buffer.value_or(DType::float32);
  SHARDLAB_TRY(options.expert_shares, expert_shares(scenario));
  if (scenario.model->moe.load.kind == MoeLoadKind::worst) options.expert_load = ExpertLoad::worst;
  if (!options.expert_shares.empty()) options.expert_load = ExpertLoad::stated;
  options.router_loss = scenario.model->moe.auxiliary_loss;
  options.dropout = scenario.model->dropout;
  options.implementation = choose_implementation(scenario);
  options.fused_loss = scenario.model->loss.fused;
  options.compile = scenario.model->compile;
  options.compiled_loss = scenario.model->loss.compiled || options.compile == CompileScope::whole;
  options.eager_loss = {!scenario.model->loss.upcast, scenario.model->loss.shift};
  options.attention = form_of(scenario.model->attention);
  SHARDLAB_TRY(ModelGraph graph, build_model_graph(config, options));
  SHARDLAB_CHECK_OK(check_experts(scenario.model->moe, graph));
  SHARDLAB_CHECK_OK(check_buffers(config, options, graph));
  SHARDLAB_CHECK_OK(check_attention(scenario.model->attention, options, graph));
  SHARDLAB_CHECK_OK(check_loss(scenario.model->loss, options));
  SHARDLAB_CHECK_OK(check_compiled(*scenario.model, options));
  SHARDLAB_TRY(graph, add_adapters(std::move(graph), scenario.model->lora));
  const LossSpec& loss = scenario.model->loss;
  if (loss.kind == LossKind::chunked) SHARDLAB_CHECK_OK(chunk_loss(graph, loss.over, loss.chunks));
  SHARDLAB_CHECK_OK(check_float8(scenario));
  SHARDLAB_CHECK_OK(use_float8_products(graph, scenario.model->fp8));
  SHARDLAB_CHECK_OK(freeze_parameters(graph, scenario.model->frozen));
  SHARDLAB_CHECK_OK(quantize_frozen_weights(graph, scenario.model->quantized));
  SHARDLAB_CHECK_OK(check_sizes(scenario, graph));
  return graph;
}

}  // namespace

Result<ModelConfig> read_model_config(const Scenario& scenario) {
  SHARDLAB_TRY(const std::filesystem::path path, resolve_model_config(scenario, *scenario.model));
  return ModelConfig::read(path, scenario.model->overrides);
}

Result<ModelGraph> load_model_graph(const Scenario& scenario) {
  return with_form_of_model<ModelGraph>(scenario, load_as_chosen);
}

}  // namespace shardlab
