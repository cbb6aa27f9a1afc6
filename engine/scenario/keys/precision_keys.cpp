// The sections precision, scaler, activation and offload.
#include <fmt/ranges.h>

#include "engine/scenario/keys/sections.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

Kind<std::optional<DType>> compute_dtype() {
  return kind::optional(kind::dtype({DType::float32, DType::bfloat16, DType::float16}));
}

// "true; false under fsdp1".
std::string casts_inputs_by_default() {
  std::vector<std::string_view> exceptions;
  for (const KnownStrategy& strategy : known_strategies()) {
    if (!strategy.facts->casts_inputs_by_default) exceptions.push_back(strategy.name);
  }
  return fmt::format("true; false under {}", fmt::join(exceptions, ", "));
}

}  // namespace

const Keys<PrecisionSpec>& precision_keys() {
  using S = PrecisionSpec;
  static const Keys<S> keys{
      key("param", &S::param, compute_dtype(), "of gathered parameters, and so of forward and backward",
          "model.dtype"),
      key("reduce", &S::reduce, compute_dtype(), "of the gradient reduction", "precision.param"),
      key("buffer", &S::buffer, compute_dtype(),
          of_strategies("precision.buffer", "of buffers of modules (rotary frequencies)"), "as stored"),
      key("output", &S::output, compute_dtype(),
          of_strategies("precision.output",
                        "of the floating-point outputs of every unit's forward; for single units "
                        "parallel.wrap.overrides"),
          "as computed"),
      key("keep_low_precision_grads", &S::keep_low_precision_grads, kind::boolean(),
          of_strategies("precision.keep_low_precision_grads",
                        "the optimizer sees gradients of precision.param")),
      key("cast_forward_inputs", &S::cast_forward_inputs, kind::optional(kind::boolean()),
          "cast floating-point inputs of units to precision.param", casts_inputs_by_default()),
      key("autocast", &S::autocast, compute_dtype(),
          "torch.autocast around the forward: products and attention in this dtype, LayerNorm and losses in "
          "float32, "
          "the rest in the widest dtype of its operands; parameters keep precision.param",
          "off"),
  };
  return keys;
}

const Keys<ScalerSpec>& scaler_keys() {
  using S = ScalerSpec;
  static const Keys<S> keys{
      key("enabled", &S::enabled, kind::optional(kind::boolean()), "scale the loss", "with float16"),
      key("initial_scale", &S::initial_scale, kind::number(0, 1e30, true), "first factor"),
      key("growth", &S::growth, kind::number(1, 1e6, true), "factor after `interval` steps without overflow"),
      key("backoff", &S::backoff, kind::number(0, 1, true), "factor after an overflow"),
      key("interval", &S::interval, kind::optional(kind::integer(1)), "steps between growths",
          "2000, under DeepSpeed 1000"),
      key("dynamic", &S::dynamic, kind::boolean(),
          "of DeepSpeed: false keeps initial_scale (its fp16.loss_scale)"),
      key("hysteresis", &S::hysteresis, kind::optional(kind::integer(1)),
          "of DeepSpeed: which overflow lowers the scale; those before it skip their steps alone", "2"),
      key("consecutive_hysteresis", &S::consecutive_hysteresis, kind::boolean(),
          "of DeepSpeed: a step without overflow restores the hysteresis, else a growth does"),
      key("minimum", &S::minimum, kind::number(0, 1e30, true),
          "of DeepSpeed: where the scale stops falling; ZeRO ends the run at the next overflow"),
  };
  return keys;
}

const Keys<ActivationSpec>& activation_keys() {
  using S = ActivationSpec;
  static const Keys<S> keys{
      key("checkpoint", &S::checkpoint, kind::word<ActivationCheckpoint>(),
          "recompute activations in backward"),
      only_with("checkpoint", {ActivationCheckpoint::full, ActivationCheckpoint::selective},
                key("every", &S::every, kind::integer(1, 1 << 20), "checkpoint every k-th block")),
      only_with("checkpoint", {ActivationCheckpoint::selective},
                key("operators", &S::operators, kind::texts(),
                    "kinds of operators (`shardlab model` lists a layer's) whose outputs are kept and that "
                    "are not run again; "
                    "linear/2: every second of a layer, beginning with the first")),
      only_with("checkpoint", {ActivationCheckpoint::full, ActivationCheckpoint::selective},
                key("placement", &S::placement, kind::word<CheckpointPlacement>(),
                    "checkpoint inside the unit, or around it")),
      only_with("checkpoint", {ActivationCheckpoint::full, ActivationCheckpoint::selective},
                key("reentrant", &S::reentrant, kind::boolean(), "torch.utils.checkpoint's reentrant form")),
      key("offload", &S::offload, kind::word({OffloadTarget::none, OffloadTarget::cpu}),
          "cpu: what checkpointed blocks are called with waits in page-locked host memory, as with torch's "
          "offload_wrapper around a checkpoint"),
      key("partition", &S::partition, kind::boolean(),
          "split checkpointed inputs over the tensor-parallel ranks"),
  };
  return keys;
}

namespace {

const Keys<DriveSpec>& drive_keys() {
  using S = DriveSpec;
  static const Keys<S> keys{
      key("block_size", &S::block_size, kind::size(), "of one request to the drive"),
      key("queue_depth", &S::queue_depth, kind::integer(1, 4096), "requests at once"),
      key("threads", &S::threads, kind::integer(1, 256), "that read and write"),
  };
  return keys;
}

}  // namespace

const Keys<OffloadSpec>& offload_keys() {
  using S = OffloadSpec;
  static const Keys<S> keys{
      key("parameters", &S::parameters, kind::word<OffloadTarget>(), "where the parameter shards live"),
      key("optimizer", &S::optimizer, kind::word<OffloadTarget>(),
          "where the optimizer state lives and is updated"),
      key("pin", &S::pin, kind::boolean(), "page-locked host memory"),
      key("ratio", &S::ratio, kind::fraction(0, 1), "share of the optimizer state that is offloaded"),
      key("buffers", &S::buffers, kind::integer(0, 1 << 16),
          "page-locked buffers before a drive, each of the largest sub-group; 0: the framework's number"),
      key("pipeline_read", &S::pipeline_read, kind::boolean(),
          "read the next sub-group from the drive while one is updated"),
      key("pipeline_write", &S::pipeline_write, kind::boolean(),
          "update the next sub-group while one is written to the drive"),
      section("aio", &S::aio, &drive_keys),
  };
  return keys;
}

}  // namespace shardlab
