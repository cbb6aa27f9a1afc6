// How the state is spread and how it is trained.
#include <fmt/ranges.h>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/complaints.h"
#include "engine/scenario/loss_scaling.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/rank_variables.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

void check_match(Complaints& c, const std::string& path, const WrapMatch& match) {
  if (match.min_params && match.max_params && *match.min_params > *match.max_params) {
    c.refuse(path + ".max_params", fmt::format("{} is below min_params {}: nothing can match",
                                               *match.max_params, *match.min_params));
  }
}

void check_wrap(Complaints& c, const std::string& path, const WrapSpec& wrap) {
  if (wrap.policy == WrapPolicyKind::lambda)
    c.require(!wrap.match.empty(), path + ".match", "the modules that become units");
  if (wrap.policy == WrapPolicyKind::module)
    c.require(!wrap.classes.empty(), path + ".classes", "the classes that become units");
  if (wrap.policy == WrapPolicyKind::any_of)
    c.require(!wrap.any.empty(), path + ".any", "the policies to combine");
  for (std::size_t i = 0; i < wrap.match.size(); ++i)
    check_match(c, fmt::format("{}.match[{}]", path, i), wrap.match[i]);
  for (std::size_t i = 0; i < wrap.overrides.size(); ++i) {
    const std::string one = fmt::format("{}.overrides[{}]", path, i);
    check_match(c, one + ".match", wrap.overrides[i].match);
    c.require(!wrap.overrides[i].settings.empty(), one + ".settings", "what is different for these units");
  }
  for (std::size_t i = 0; i < wrap.any.size(); ++i) {
    const std::string inner = fmt::format("{}.any[{}]", path, i);
    check_wrap(c, inner, wrap.any[i]);
    if (wrap.any[i].policy == WrapPolicyKind::none)
      c.refuse(inner + ".policy", "none selects nothing", "remove it");
    if (!wrap.any[i].overrides.empty())
      c.refuse(inner + ".overrides", "has no effect inside a policy", "write it to " + path + ".overrides");
    if (!wrap.any[i].ignored.empty())
      c.refuse(inner + ".ignored", "has no effect inside a policy", "write it to " + path + ".ignored");
    if (!wrap.any[i].together.empty())
      c.refuse(inner + ".together", "has no effect inside a policy", "write it to " + path + ".together");
  }
}

// Nothing can look at all gradients, or add to one, once the first has been used.
void check_optimizer_in_backward(Complaints& c, const TrainSpec& train) {
  const std::string key = "train.optimizer_in_backward";
  if (train.accumulation > 1)
    c.refuse(key, "an update within backward knows no accumulation", "train.accumulation: 1");
  if (train.clip_norm)
    c.refuse(key, "no norm of all gradients is known within backward", "no train.clip_norm");
  if (train.clip_value)
    c.refuse(key, "gradients are used before they could be clipped", "no train.clip_value");
  if (scales_loss(c.scenario)) c.refuse(key, "gradients of a scaled loss are unscaled together", "bfloat16");
  if (!facts_of(c.scenario).updates_in_backward)
    c.refuse(key, "not supported yet: with " + strategy_name(c.scenario),
             "nearest that works: parallel.strategy: none");
}

void check_train(Complaints& c) {
  const TrainSpec& train = *c.scenario.train;
  if (train.clip_norm && train.clip_value)
    c.refuse("train.clip_value", "contradicts train.clip_norm", "give one of the two");
  if (train.epochs > 0 && train.steps > 0)
    c.refuse("train.epochs", "contradicts train.steps", "give one of the two");
  if (train.sync == GradientSync::every && train.accumulation == 1)
    c.refuse("train.sync",
             "every has no effect with train.accumulation 1: the only micro-batch reduces anyway",
             "remove it, or raise train.accumulation");
  const ScheduleSpec& schedule = train.schedule;
  if (schedule.kind != ScheduleKind::constant) {
    c.require(schedule.total_steps > 0, "train.schedule.total_steps",
              "the step at which the learning rate is 0");
    if (schedule.total_steps > 0 && schedule.warmup_steps >= schedule.total_steps) {
      c.refuse("train.schedule.warmup_steps", "the warm-up is as long as the training or longer");
    }
  }
  if (train.save.every > 0)
    c.require(!c.scenario.checkpoint->path.empty(), "checkpoint.path", "the folder for train.save");
  if (train.optimizer_in_backward) check_optimizer_in_backward(c, train);
  if (train.optimizer_paged && c.scenario.offload->optimizer != OffloadTarget::none)
    c.refuse("train.optimizer_paged", "contradicts offload.optimizer: state is paged from the device",
             "give one of the two");
}

// "ShardedGradScaler of fsdp1".
std::string float16_scalers() {
  std::vector<std::string> scalers;
  for (const KnownStrategy& strategy : known_strategies()) {
    if (strategy.built && !strategy.facts->float16_scaler.empty())
      scalers.push_back(fmt::format("{} of {}", strategy.facts->float16_scaler, strategy.name));
  }
  return fmt::format("{}", fmt::join(scalers, ", "));
}

void check_gradscaler(Complaints& c) {
  const ScalerSpec& s = *c.scenario.scaler;
  const std::pair<const char*, bool> deepspeeds[] = {{"dynamic", !s.dynamic},
                                                     {"hysteresis", s.hysteresis.has_value()},
                                                     {"consecutive_hysteresis", s.consecutive_hysteresis},
                                                     {"minimum", s.minimum != ScalerSpec{}.minimum}};
  for (const auto& [key, given] : deepspeeds) {
    if (given) c.refuse(std::string("scaler.") + key, "GradScaler has none: it is DeepSpeed's", "remove it");
  }
}

void check_deepspeeds_scaler(Complaints& c) {
  const ScalerSpec& s = *c.scenario.scaler;
  const bool half = c.scenario.precision->param.value_or(c.scenario.model->dtype) == DType::float16;
  if (s.enabled && *s.enabled != half)
    c.refuse("scaler.enabled",
             half ? "DeepSpeed scales every float16 loss" : "DeepSpeed scales float16 losses alone",
             half ? "scaler: {dynamic: false, initial_scale: 1} leaves it as it is" : "remove it");
  if (s.growth != ScalerSpec{}.growth) c.refuse("scaler.growth", "DeepSpeed doubles the scale", "remove it");
  if (s.backoff != ScalerSpec{}.backoff)
    c.refuse("scaler.backoff", "DeepSpeed halves the scale", "remove it");
  const bool knows_hysteresis = facts_of(c.scenario).loss_scaler == LossScaler::deepspeed;
  if (!knows_hysteresis && (s.hysteresis || s.consecutive_hysteresis))
    c.refuse("scaler.hysteresis", "DeepSpeed without ZeRO lowers the scale at every overflow", "remove it");
}

void check_scaler(Complaints& c) {
  ScalerSpec defaults;
  defaults.enabled = c.scenario.scaler->enabled;
  const bool scales = scales_loss(c.scenario);
  if (!scales && *c.scenario.scaler != defaults) {
    c.refuse("scaler",
             c.scenario.scaler->enabled ? "has no effect with scaler.enabled: false"
                                        : "has no effect: nothing is float16",
             "remove it, or set scaler.enabled: true");
  }
  const bool torchs = facts_of(c.scenario).loss_scaler == LossScaler::grad_scaler;
  torchs ? check_gradscaler(c) : check_deepspeeds_scaler(c);
  const bool refuses = torchs && facts_of(c.scenario).float16_scaler.empty();
  if (scales && c.scenario.model->dtype == DType::float16 && refuses) {
    c.refuse(
        "model.dtype",
        fmt::format("float16 gradients cannot be unscaled: GradScaler of torch 2.11 refuses them ({} does "
                    "not)",
                    float16_scalers()),
        "store float32 and set precision.param: float16, or set scaler.enabled: false");
  }
}

void check_variables(Complaints& c) {
  for (const auto& [name, value] : c.scenario.launch->environment) {
    if (loads_code(name))
      c.refuse("launch.env", fmt::format("{} would make the ranks load or run a file", name),
               "leave it out; whoever starts the run can set it in the shell");
  }
}

void check_rest(Complaints& c) {
  check_variables(c);
  const bool cpu = c.scenario.cluster->device == DeviceKind::cpu;
  if (cpu && c.scenario.launch->backend == CommunicationBackend::nccl)
    c.refuse("launch.backend", "nccl needs GPUs, the cluster has CPU ranks", "use gloo");
  const std::string& strategy = strategy_name(c.scenario);
  if (c.scenario.activation->placement == CheckpointPlacement::outside && !facts_of(strategy).gathers_units) {
    c.refuse("activation.placement",
             fmt::format("outside has no effect with strategy {}: it gathers no units", strategy),
             "remove it");
  }
  if (c.scenario.activation->offload == OffloadTarget::cpu &&
      c.scenario.activation->checkpoint == ActivationCheckpoint::none)
    c.refuse("activation.offload", "not supported yet: without checkpoints, of all that backward reads",
             "nearest that works: activation.checkpoint: full");
  if (c.scenario.activation->checkpoint == ActivationCheckpoint::selective) {
    c.require(!c.scenario.activation->operators.empty(), "activation.operators",
              "kinds of operators whose outputs are kept, [linear, attention] for instance");
  }
  const bool to_nvme = c.scenario.offload->parameters == OffloadTarget::nvme ||
                       c.scenario.offload->optimizer == OffloadTarget::nvme;
  if (to_nvme)
    c.require(!c.scenario.cluster->nvme.path.empty(), "cluster.nvme.path", "the drive that offload uses");
}

// A strategy that has none of these keys refuses the section as a whole.
void check_prefetch(Complaints& c, const std::string& path, const ParallelSpec& parallel) {
  const StrategyFacts& facts = facts_of(parallel.strategy);
  if (!accepts(facts, "parallel.prefetch")) return;
  const PrefetchSpec& prefetch = parallel.prefetch;
  const PrefetchSpec defaults;
  const auto check = [&](const std::string& key, bool differs) {
    if (differs && !accepts(facts, "parallel.prefetch." + key))
      c.refuse(path + "." + key, "has no effect with strategy " + parallel.strategy, "remove it");
  };
  check("backward", prefetch.backward != defaults.backward);
  check("forward", prefetch.forward != defaults.forward);
  check("limit_all_gathers", prefetch.limit_all_gathers != defaults.limit_all_gathers);
  check("forward_depth", prefetch.forward_depth != defaults.forward_depth);
  check("backward_depth", prefetch.backward_depth != defaults.backward_depth);
}

}  // namespace

void validate_parallel(Complaints& c, const std::string& path, const ParallelSpec& parallel) {
  check_prefetch(c, path + ".prefetch", parallel);
  const std::string_view why = facts_of(parallel.strategy).why_no_joined_modules;
  if (!why.empty() && !parallel.wrap.together.empty())
    c.refuse(path + ".wrap.together",
             fmt::format("has no effect with strategy {}: {}", parallel.strategy, why),
             "remove it, or use " + proposed_for_joined_modules());
  check_wrap(c, path + ".wrap", parallel.wrap);
}

void validate_training(Complaints& c) {
  check_train(c);
  check_scaler(c);
  check_rest(c);
}

}  // namespace shardlab
