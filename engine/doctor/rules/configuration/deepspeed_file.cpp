// The file of DeepSpeed.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule batch_sizes() {
  return {
      .id = "configuration/batch-sizes",
      .codes = {"Y-10"},
      .title = "batch sizes do not multiply",
      .severity = Severity::error,
      .needs = {Need::files, Need::log},
      .source = "deepspeed/runtime/config.py (_batch_assertion)",
      .message = "The train batch is not micro-batch times accumulation times world size.",
      .explanation = "DeepSpeed checks the product. A world of 1 means that the launcher was not used.",
      .fix = {.kind = FixKind::settings,
              .text = "say two of the three (or \"auto\" with the Trainer); start with the launcher"},
      .example =
          "AssertionError: Check batch related parameters. train_batch_size is not equal to "
          "micro_batch_per_gpu * gradient_acc_step * world_size 8 != 2 * 1 * 1",
      .signs =
          {
              {.pattern = "requires you to pass at least one of training or evaluation dataloaders",
               .certainty = 88,
               .message = "accelerate could not find out the micro-batch: nothing that it prepares has one, "
                          "and the configuration says none.",
               .fix =
                   "say train_micro_batch_size_per_gpu as a number, or prepare a data loader with the model"},
              {.pattern = "dataloaders passed to `accelerate.prepare()` has `none` as batch size",
               .certainty = 86,
               .message = "accelerate could not find out the micro-batch: the data loader has none.",
               .fix = "say train_micro_batch_size_per_gpu as a number"},
              {.pattern = "check batch related parameters", .certainty = 95},
              {.pattern = "train_batch_size is not equal to", .certainty = 94},
              {.pattern = "train_batch_size*micro_batch*gradient_acc*!=", .certainty = 88},
              {.pattern = "train_batch_size*has to be greater than 0", .certainty = 93},
              {.pattern = "batch size*has to be greater than 0", .certainty = 90},
              {.pattern = "either train_batch_size or train_micro_batch_size_per_gpu needs to be provided",
               .certainty = 93},
              {.pattern = "batch size*not divisible by", .certainty = 62},
              {.pattern = "batch_size*not divisible by*world_size", .certainty = 80},
              {.pattern = "should be divisible by*world size", .certainty = 72},
              {.pattern = "must be divisible by*gradient_accumulation_steps", .certainty = 75},
              {.pattern = "ds train_batch_size=*vs hf", .certainty = 90},
              {.pattern = "please correct the following deepspeed config values that mismatch",
               .certainty = 84},
              {.pattern = "gradient_accumulation_steps*mismatch", .certainty = 75},
          },
      .faults = {{.code = ErrorCode::batch_product}},
  };
}

}  // namespace

std::vector<Rule> configuration_deepspeed_file_rules() {
  return {batch_sizes()};
}

}  // namespace shardlab
