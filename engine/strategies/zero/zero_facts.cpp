// What a scenario asks about DeepSpeed's ZeRO.
#include <fmt/core.h>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/complaints.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"
#include "engine/scenario/zero_options.h"

namespace shardlab {
namespace {

constexpr std::string_view k_keys[] = {"parallel.zero"};
constexpr LooseName k_loose_names[] = {{"zero", ""}, {"deepspeed", ""}};
constexpr std::string_view k_aliases_0[] = {"zero-0", "zero_0"};
constexpr std::string_view k_aliases_1[] = {"zero-1", "zero_1"};
constexpr std::string_view k_aliases_2[] = {"zero-2", "zero_2"};
constexpr std::string_view k_aliases_3[] = {"zero-3", "zero_3"};

constexpr std::string_view k_stages[] = {"zero1", "zero2", "zero3"};
constexpr std::span<const std::string_view> k_above_0 = k_stages;

constexpr std::string_view k_whole_weights =
    "DeepSpeed keeps the weights on the device below stage 3: they are whole on every rank";
constexpr std::string_view k_no_teacher = "ZeRO spreads what training needs, and a teacher is not trained";

// What DeepSpeed has nothing for, whatever the stage.
void check_any_stage(Complaints& c) {
  if (c.scenario.precision->reduce)
    c.refuse("precision.reduce", "DeepSpeed reduces in the dtype of the parameters", "remove it");
  if (c.scenario.train->clip_value)
    c.refuse("train.clip_value", "DeepSpeed clips by the norm of all gradients alone", "train.clip_norm");
}

// Settings whose place DeepSpeed takes with keys of its own.
void check_common(Complaints& c, const ResolvedMesh& mesh) {
  check_any_stage(c);
  if (reduces_every_micro_batch(c.scenario))
    c.refuse("train.sync", "DeepSpeed's stage decides which micro-batches are reduced", "remove it");
  if (mesh.replicate > 1)
    c.refuse("parallel.mesh.replicate", "ZeRO spreads its state over all ranks",
             "remove it, or use fsdp2 for replicas of a sharded model");
}

void check_replicated(Complaints& c, const ResolvedMesh&) {
  check_any_stage(c);
  if (reduces_every_micro_batch(c.scenario))
    c.refuse("train.sync", "DeepSpeed reduces with the last micro-batch", "remove it");
}

// stage_1_and_2.py and engine.py raise a ValueError for each.
void check_norm(Complaints& c) {
  if (zero_options(c.scenario).compute_grad_norm) return;
  const auto refuse = [&](std::string_view beside, const char* hint) {
    c.refuse("parallel.zero", fmt::format("compute_grad_norm: false: DeepSpeed refuses it with {}", beside),
             hint);
  };
  if (c.scenario.train->clip_norm)
    refuse("gradient_clipping, which needs the norm", "remove it, or train.clip_norm");
  if (c.scenario.offload->optimizer != OffloadTarget::none)
    refuse("offload_optimizer", "remove it, or offload.optimizer");
  if (takes_bf16_optimizer(c.scenario))
    refuse("float32 sums of bfloat16 gradients at stage 1", "remove it, or grad_accum_dtype");
}

void check_partitioned(Complaints& c, const ResolvedMesh& mesh) {
  check_common(c, mesh);
  check_norm(c);
  const auto& zero = zero_settings(c.scenario);
  for (const auto& [key, value] : zero) {
    if (!has_effect_under(key, 2))
      c.refuse("parallel.zero", fmt::format("{} has no effect below stage 3", key), "remove it");
  }
  if (zero_options(c.scenario).reduce_bucket_size <= 0)
    c.refuse("parallel.zero", "reduce_bucket_size: a bucket holds at least one element",
             "5e8 is DeepSpeed's default; a smaller one takes less memory and more calls");
  const auto gathered = zero.find("allgather_bucket_size");
  if (gathered != zero.end() && gathered->second.find_last_of("13579") + 1 == gathered->second.size())
    c.refuse("parallel.zero",
             fmt::format("allgather_bucket_size: {} is odd, and DeepSpeed refuses that", gathered->second),
             "give a multiple of 2");
}

void check_quantized_traffic(Complaints& c, const ZeroOptions& options) {
  if (options.quantized_weights && c.scenario.cluster->device == DeviceKind::cpu)
    c.refuse("parallel.zero", "zero_quantized_weights: DeepSpeed quantises by kernels of GPUs alone",
             "zero_quantized_weights: false, or a cluster of GPUs");
  if (options.quantized_gradients && !options.reduce_scatter)
    c.refuse("parallel.zero", "zero_quantized_gradients: DeepSpeed demands reduce_scatter with it",
             "leave reduce_scatter out, or zero_quantized_gradients");
}

void check_stage_3(Complaints& c, const ResolvedMesh& mesh) {
  check_common(c, mesh);
  const ZeroOptions options = zero_options(c.scenario);
  if (options.reduce_bucket_size <= 0)
    c.refuse("parallel.zero", "reduce_bucket_size: a bucket holds at least one element",
             "5e8 is DeepSpeed's default; a smaller one takes less memory and more calls");
  if (options.sub_group_size <= 0)
    c.refuse("parallel.zero", "sub_group_size: a sub-group holds at least one element",
             "1e9 is DeepSpeed's default; a smaller one takes less memory in the update");
  check_quantized_traffic(c, options);
  const std::int64_t neighbours = std::min<std::int64_t>(options.hpz_partition_size, mesh.shard);
  if (neighbours > 1 && mesh.shard % neighbours != 0)
    c.refuse("parallel.zero",
             fmt::format("zero_hpz_partition_size: {} does not divide the {} ranks",
                         options.hpz_partition_size, mesh.shard),
             "the number of GPUs of a node is what it is meant for");
  for (const auto& [key, value] : zero_settings(c.scenario)) {
    if (!has_effect_under(key, 3))
      c.refuse("parallel.zero", fmt::format("{} has no effect under stage 3", key), "remove it");
  }
}

std::vector<NotBuilt> without_parts(const Scenario& scenario, const std::string& strategy) {
  std::vector<NotBuilt> missing;
  const std::string with = " with " + strategy;
  if (scenario.precision->autocast)
    missing.push_back({"precision.autocast", "torch.autocast" + with, "precision.param"});
  return missing;
}

enum class Stage : std::uint8_t { one, two };

template <Stage stage>
std::vector<NotBuilt> without_options(const Scenario& scenario) {
  const std::string strategy = stage == Stage::one ? "zero1" : "zero2";
  std::vector<NotBuilt> missing = without_parts(scenario, strategy);
  const ZeroOptions options = zero_options(scenario);
  const DType param = scenario.precision->param.value_or(scenario.model->dtype);
  const auto refuse = [&](std::string shown, std::string nearest) {
    missing.push_back({"parallel.zero", std::move(shown), std::move(nearest)});
  };
  if (!options.contiguous_gradients) refuse("contiguous_gradients: false", "contiguous_gradients: true");
  const DType sum = options.grad_accum_dtype.value_or(param);
  const bool in_float32 = stage == Stage::two && sum == DType::float32;
  if (sum != param && !in_float32 && !takes_bf16_optimizer(scenario))
    refuse(fmt::format("grad_accum_dtype: {} under {}", to_string(sum), strategy),
           "leave it out, or zero2 with fp32");
  return missing;
}

std::vector<NotBuilt> predicted_of_stage_2(const Scenario& scenario) {
  const DType param = scenario.precision->param.value_or(scenario.model->dtype);
  const bool apart = zero_options(scenario).grad_accum_dtype.value_or(param) != param;
  if (!apart || scenario.offload->optimizer == OffloadTarget::none) return {};
  return {{"parallel.zero", "grad_accum_dtype: fp32 with offload.optimizer", "leave it out"}};
}

// An option of stage 3, and the JSON of its value that asks for nothing.
struct UnbuiltOption {
  std::string_view key, off;
};
constexpr UnbuiltOption k_unbuilt_of_stage_3[] = {
    {"zero_quantized_nontrainable_weights", "false"},
    {"stage3_module_granularity_threshold", "0"},
    {"stage3_use_all_reduce_for_fetch_params", "false"},
};

// On one node DeepSpeed reduces as ever.
bool exchanges_gradients(const Scenario& scenario) {
  return zero_options(scenario).quantized_gradients && scenario.cluster->nodes > 1;
}

std::vector<NotBuilt> without_options_of_stage_3(const Scenario& scenario) {
  std::vector<NotBuilt> missing = without_parts(scenario, "zero3");
  const auto& zero = zero_settings(scenario);
  const ZeroOptions options = zero_options(scenario);
  const DType param = scenario.precision->param.value_or(scenario.model->dtype);
  const auto refuse = [&](std::string shown, std::string nearest) {
    missing.push_back({"parallel.zero", std::move(shown), std::move(nearest)});
  };
  for (const UnbuiltOption& option : k_unbuilt_of_stage_3) {
    const auto given = zero.find(std::string(option.key));
    if (given != zero.end() && given->second != option.off)
      refuse(fmt::format("{}: {}", option.key, given->second), fmt::format("{}: {}", option.key, option.off));
  }
  if (exchanges_gradients(scenario) && scenario.offload->optimizer != OffloadTarget::none)
    refuse("zero_quantized_gradients over several nodes with offload.optimizer", "one of the two");
  if (options.quantized_weights && scenario.offload->parameters == OffloadTarget::cpu)
    refuse("zero_quantized_weights with offload.parameters", "one of the two");
  if (options.quantized_weights && scenario.model->quantized != Quantization::none)
    refuse("zero_quantized_weights with model.quantized", "one of the two");
  if (options.hpz_partition_size > 1 && scenario.offload->parameters == OffloadTarget::cpu)
    refuse("zero_hpz_partition_size with offload.parameters", "one of the two");
  if (!options.contiguous_gradients) refuse("contiguous_gradients: false", "contiguous_gradients: true");
  if (scenario.offload->parameters == OffloadTarget::cpu &&
      scenario.offload->optimizer == OffloadTarget::none)
    missing.push_back({"offload.parameters", "parameters in host memory and the optimizer on the device",
                       "offload.optimizer: cpu as well"});
  if (scenario.offload->optimizer == OffloadTarget::nvme) {
    if (param == DType::float16)
      missing.push_back({"offload.optimizer", "nvme with float16", "precision.param: bfloat16"});
    if (scenario.train->optimizer == Optimizer::adamw_8bit)
      missing.push_back({"offload.optimizer", "nvme with states in eight bits", "train.optimizer: adamw"});
  }
  return missing;
}

std::vector<NotBuilt> predicted_of_stage_3(const Scenario& scenario) {
  std::vector<NotBuilt> predicted;
  if (zero_options(scenario).quantized_weights)
    predicted.push_back({"parallel.zero", "zero_quantized_weights: true", "zero_quantized_weights: false"});
  if (exchanges_gradients(scenario))
    predicted.push_back({"parallel.zero", "zero_quantized_gradients: true over several nodes",
                         "zero_quantized_gradients: false"});
  return predicted;
}

}  // namespace

bool takes_bf16_optimizer(const Scenario& scenario) {
  const DType param = scenario.precision->param.value_or(scenario.model->dtype);
  return facts_of(scenario).zero_stage == 1 && param == DType::bfloat16 &&
         zero_options(scenario).grad_accum_dtype == DType::float32 &&
         scenario.offload->optimizer == OffloadTarget::none;
}

extern constexpr StrategyFacts k_zero0_facts{
    .framework = Framework::deepspeed,
    .zero_stage = 0,
    .aliases = k_aliases_0,
    .shards_more = k_above_0,
    .casts_units = true,
    .loss_scaler = LossScaler::deepspeed_unfused,
    .why_no_teacher = k_no_teacher,
    .why_no_optimizer_offload = "DeepSpeed offloads what ZeRO partitions, and stage 0 partitions nothing",
    .proposed = false,
    .replicates = [](const ParallelSpec&) { return true; },
    .check = check_replicated,
    .not_built = [](const Scenario& scenario) { return without_parts(scenario, "zero0"); },
};

extern constexpr StrategyFacts k_zero1_facts{
    .framework = Framework::deepspeed,
    .zero_stage = 1,
    .keys = k_keys,
    .aliases = k_aliases_1,
    .loose_names = k_loose_names,
    .shards_more = k_above_0.subspan(1),
    .casts_units = true,
    .loss_scaler = LossScaler::deepspeed,
    .why_no_teacher = k_no_teacher,
    .why_no_parameter_offload = k_whole_weights,
    .offloads_optimizer = true,
    .copies_each_gradient = true,
    .check = check_partitioned,
    .not_built = without_options<Stage::one>,
};

extern constexpr StrategyFacts k_zero2_facts{
    .framework = Framework::deepspeed,
    .zero_stage = 2,
    .keys = k_keys,
    .aliases = k_aliases_2,
    .loose_names = k_loose_names,
    .shards_more = k_above_0.subspan(2),
    .casts_units = true,
    .reduces_every_micro_batch = true,
    .loss_scaler = LossScaler::deepspeed,
    .why_no_teacher = k_no_teacher,
    .why_no_parameter_offload = k_whole_weights,
    .offloads_optimizer = true,
    .copies_each_gradient = true,
    .check = check_partitioned,
    .not_built = without_options<Stage::two>,
    .not_run = predicted_of_stage_2,
};

extern constexpr StrategyFacts k_zero3_facts{
    .framework = Framework::deepspeed,
    .zero_stage = 3,
    .keys = k_keys,
    .aliases = k_aliases_3,
    .loose_names = k_loose_names,
    .gathers_modules = true,
    .casts_units = true,
    .reduces_every_micro_batch = true,
    .saves_by_parameter = true,
    .loss_scaler = LossScaler::deepspeed,
    .why_no_teacher = k_no_teacher,
    .offloads_parameters = true,
    .offloads_optimizer = true,
    .swaps_optimizer = true,
    .copies_each_gradient = true,
    .check = check_stage_3,
    .not_built = without_options_of_stage_3,
    .not_run = predicted_of_stage_3,
};

}  // namespace shardlab
