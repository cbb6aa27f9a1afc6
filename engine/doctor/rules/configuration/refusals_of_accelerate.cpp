// What accelerate and transformers' Trainer refuse (accelerate/accelerator.py, transformers/trainer.py).
#include "engine/doctor/rules/configuration/refusals.h"

namespace shardlab {
namespace {

LogSign of_accelerate(std::string_view pattern, int certainty = 86, std::string_view frame = {}) {
  return {
      .pattern = pattern,
      .certainty = certainty,
      .frame = frame,
      .message = "accelerate refuses its settings, or what it is given to prepare. The message says which."};
}

LogSign of_trainer(std::string_view pattern, int certainty = 84, std::string_view frame = {}) {
  return {.pattern = pattern,
          .certainty = certainty,
          .frame = frame,
          .message =
              "Trainer refuses its arguments: they contradict each other, or a value is none that it "
              "takes. The message says which."};
}

}  // namespace

std::vector<LogSign> refusals_of_accelerate() {
  return {
      of_accelerate("you cannot specify an optimizer in the config file and in the code"),
      of_accelerate("you cannot specify a scheduler in the config file and in the code"),
      of_accelerate("you can only specify `accelerate.utils.dummy"),
      of_accelerate("cannot create a `dummyoptim` without specifying an optimizer"),
      of_accelerate("a model and optimizer must be passed together to `accelerator.prepare"),
      of_accelerate("only one model is supported when using"),
      of_accelerate("can't use same `accelerator()` instance with multiple models"),
      of_accelerate("the following accelerate config variables will be ignored"),
      of_accelerate("cannot pass in a `deepspeed_plugin` when creating a second `accelerator`"),
      of_accelerate("you can't customize device placements with deepspeed"),
      of_accelerate("do not support `clip_grad_value_`"),
      of_accelerate("fp16 mixed precision requires a", 80),
      of_accelerate("contains `dtensor` parameters, which is incompatible with"),
      of_accelerate("can find neither `model.config.hidden_size`"),
      of_accelerate("in `split_batches` mode, the batch size"),
      of_accelerate("can't use batches of different size with `dispatch_batches"),
      of_accelerate("arg cannot be set to*when*is set in the deepspeed config file"),
      of_accelerate("without `auto` (set to correct value) in the deepspeed config file"),
      {.pattern = "cannot get 16bit model weights because `stage3_gather_16bit_weights_on_model_save`",
       .certainty = 88,
       .message = "The whole model was asked of ZeRO-3, which holds partitions of it only.",
       .fix = "\"stage3_gather_16bit_weights_on_model_save\": true in the DeepSpeed file, or save_checkpoint "
              "and zero_to_fp32.py"},
      of_accelerate("valueerror: ", 60, "accelerate/data_loader.py*in prepare_data_loader"),
      of_accelerate("valueerror: ", 60, "accelerate/launchers.py*in notebook_launcher"),
      of_accelerate("valueerror: ", 60, "accelerate/utils/launch.py*in prepare_"),
      of_accelerate("valueerror: ", 58, "accelerate/utils/dataclasses.py*in set_"),
      of_accelerate("valueerror: ", 58, "accelerate/utils/dataclasses.py*in validate_"),
      of_accelerate("valueerror: ", 58, "accelerate/state.py*in __init__"),
      of_accelerate("valueerror: ", 60, "accelerate/accelerator.py*in __init__"),
      of_accelerate("valueerror: ", 58, "accelerate/accelerator.py*in _prepare_"),
  };
}

std::vector<LogSign> refusals_of_trainer() {
  return {
      of_trainer("using --fsdp xxx together with --deepspeed", 88),
      of_trainer("passing `optimizers` is not allowed if pytorch fsdp is enabled"),
      of_trainer("can't be used with `save_only_model` along with"),
      of_trainer("`auto_find_batch_size` isn't supported"),
      {.pattern = "fsdp's own activation checkpointing",
       .certainty = 84,
       .unless = {"when using fsdp, prefer"},
       .message = "Trainer refuses its arguments: FSDP and the model would both checkpoint activations."},
      of_trainer("unknown `fsdp` option"),
      of_trainer("is only available with fsdp"),
      of_trainer("--load_best_model_at_end requires the sav"),
      of_trainer("the train_dataset does not implement __len__"),
      of_trainer("zero inference only makes sense with zero stage 3", 88),
      of_trainer("has neither `hidden_size` nor `hidden_sizes` entry"),
      of_trainer("resuming is not supported for models sharded at load time"),
      {.pattern = "misconfigurationexception: ",
       .certainty = 64,
       .message = "Lightning refuses its settings, or what the module hands it. The message says which."},
      of_trainer("training requires a train_dataset"),
      of_trainer("evaluation requires an eval_dataset"),
      of_trainer("cannot instantiate unsupported optimizer"),
      of_trainer("`metric_for_best_model` training argument is set to"),
      of_trainer("passing both `optimizers` and `optimizer_cls_and_kwargs`"),
      of_trainer("pass either `distributed_config` or the standalone"),
      of_trainer("valueerror: ", 60, "transformers/trainer.py*in _validate_args"),
      of_trainer("valueerror: ", 60, "transformers/trainer.py*in create_accelerator_and_postprocess"),
      of_trainer("valueerror: ", 60, "transformers/training_args.py*in _setup_devices"),
  };
}

}  // namespace shardlab
