// What DeepSpeed refuses (deepspeed/runtime/{config,engine}.py).
#include "engine/doctor/rules/configuration/refusals.h"

namespace shardlab {
namespace {

constexpr std::string_view k_accumulated_outside =
    "accelerate or the Trainer accumulates gradients by itself, which DeepSpeed refuses from 0.16 on where "
    "it "
    "partitions them (ZeRO-2 and 3).";
constexpr std::string_view k_accumulate_inside =
    "let DeepSpeed accumulate: gradient_accumulation_steps in its configuration (\"auto\" under the "
    "Trainer), "
    "no accumulate() and no no_sync() around its engine; or versions that belong together: transformers "
    "from 4.48 on, or DeepSpeed below 0.16";

LogSign of_deepspeed(std::string_view pattern, int certainty = 84, std::string_view frame = {}) {
  return {.pattern = pattern,
          .certainty = certainty,
          .frame = frame,
          .message =
              "DeepSpeed refuses its settings: they contradict each other, or this version has no such "
              "combination. The message says which."};
}

}  // namespace

std::vector<LogSign> refusals_of_deepspeed() {
  return {
      {.pattern = "must provide optimizer during init in order to use",
       .certainty = 84,
       .message = "The engine was made without an optimizer, and is asked to train.",
       .fix = "give deepspeed.initialize an optimizer, or the configuration one, and parameters that can be "
              "trained"},
      of_deepspeed("bfloat16 and fp16 modes cannot be simultaneously enabled", 90),
      of_deepspeed("bfloat16 and fp16 cannot be enabled at once", 90),
      of_deepspeed("you are using an untested zero optimizer", 90),
      of_deepspeed("is not a supported deepspeed optimizer", 86),
      of_deepspeed("optimizer requires dynamic loss scaling"),
      of_deepspeed("does not recognize lr scheduler"),
      {.pattern = "is not supported as an optimizer parameter, please switch to",
       .certainty = 84,
       .message = "DeepSpeed ignores a parameter of the optimizer. The message says which.",
       .most = Severity::warning},
      of_deepspeed("moe not supported with stage 3", 88),
      of_deepspeed("unsupported mix of model_dtype"),
      of_deepspeed("invalid communication_data_type"),
      of_deepspeed("maximum supported zero stage is"),
      of_deepspeed("duplicate keys in deepspeed config"),
      of_deepspeed("occurs multiple times in optimizer.param_groups"),
      {.pattern = "no_sync context manager is incompatible with gradient partitioning",
       .certainty = 92,
       .message = k_accumulated_outside,
       .fix = k_accumulate_inside},
      of_deepspeed("no_sync context manager*unsupported"),
      of_deepspeed("it is illegal to call engine.step() inside no_sync"),
      of_deepspeed("partial offloading only supported for zero stage 3"),
      of_deepspeed("must be defined in deepspeed config if remote device is"),
      of_deepspeed("train batch size must be divisible by micro-batch data parallelism", 70),
      of_deepspeed("assertionerror: zero stage*requires an optimizer"),
      of_deepspeed("assertionerror: ", 58, "deepspeed/runtime/zero/config.py"),
      of_deepspeed("must initialized in fp16 mode for zero stage 3"),
      of_deepspeed("communication_data_type with reduce scatter enabled"),
      of_deepspeed("is not yet supported with*with reduce scatter enabled"),
      of_deepspeed("in zero stage 2 must be set to true for moe"),
      of_deepspeed("the model has moe layers, but none of the param groups are marked as moe"),
      of_deepspeed("zero_optimization.compute_grad_norm=false", 90),
      of_deepspeed("direct calls to tensor.backward() are not supported in this configuration"),
      of_deepspeed("assertionerror: ", 60, "deepspeed/__init__.py*in initialize"),
      of_deepspeed("configured in the deepspeed config, but no `scheduler`", 88),
  };
}

}  // namespace shardlab
