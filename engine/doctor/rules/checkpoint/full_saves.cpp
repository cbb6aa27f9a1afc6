// Saves of the whole model.
#include <fmt/format.h>

#include <utility>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/phases.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/job/strategy_settings.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

Finding save_finding(const Rule& rule, const Case& facts, const ExceedingPhase& phase,
                     std::vector<std::vector<std::string>> levels) {
  Finding finding = finding_of(rule);
  finding.severity = Severity::error;  // the job ends at its first save
  finding.goal = Goal::fit;
  finding.certainty = 95;
  finding.remedies = {{RemedyStep::limits, std::move(levels)}};
  finding.message = fmt::format("The first save fails: {} takes {} of the device's {}.",
                                words_of(phase.phase), to_string(phase.needs), to_string(phase.limit));
  finding.evidence = {evidence_of_key(facts, "checkpoint.type"), evidence_of_key(facts, "train.save.every")};
  return finding;
}

std::vector<Finding> check_full_save(const Rule& rule, const Case& facts) {
  const auto phase = exceeding_phase(facts);
  if (!phase || phase->on_host || phase->phase != LifePhase::save_full) return {};
  return {
      save_finding(rule, facts, *phase, {{"checkpoint.offload_to_cpu=true"}, {"checkpoint.type=sharded"}})};
}

LogSign in_a_save_of_zero3(std::string_view pattern, std::string_view frame) {
  return {
      .pattern = pattern,
      .certainty = 95,
      .frame = frame,
      .message = "Memory ran out while ZeRO-3 gathered the whole model for a save.",
      .fix =
          "\"stage3_gather_16bit_weights_on_model_save\": false: save_checkpoint writes the partitions, and "
          "zero_to_fp32.py makes the whole model of them afterwards"};
}

Rule full_on_device() {
  return {
      .id = "checkpoint/full-on-device",
      .codes = {"A-12"},
      .title = "a full checkpoint fills the device",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::prediction, Need::log},
      .threshold = "bytes of the model in its stored type on every rank above the free memory",
      .source =
          "torch.distributed.fsdp.FullStateDictConfig; "
          "torch.distributed.checkpoint.state_dict.StateDictOptions",
      .message = "Memory ran out while a full state dict was collected on the device.",
      .explanation =
          "A full checkpoint is the whole model on every rank, unless it goes to the CPU, and to rank 0 "
          "only.",
      .fix = {.kind = FixKind::settings,
              .set = {"checkpoint.offload_to_cpu=true", "checkpoint.rank0_only=true"},
              .text = "offload to CPU, rank 0 only"},
      .example =
          "File \"torch/distributed/fsdp/_state_dict_utils.py\", line 158, in "
          "_full_post_state_dict_hook\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 "
          "GiB.",
      .signs =
          {
              {.pattern = "failed to clone() tensor with name*out of memory", .certainty = 95},
              {.pattern = "out of memory", .certainty = 93, .frame = "_state_dict_utils.py"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "_state_dict_utils.py"},
              {.pattern = "out of memory", .certainty = 93, .frame = "in _full_post_state_dict_hook"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "in _full_post_state_dict_hook"},
              {.pattern = "out of memory", .certainty = 93, .frame = "in _full_pre_state_dict_hook"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "in _full_pre_state_dict_hook"},
              {.pattern = "out of memory", .certainty = 93, .frame = "in full_optim_state_dict"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "in full_optim_state_dict"},
              {.pattern = "out of memory", .certainty = 93, .frame = "in _gather_state_dict"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "in _gather_state_dict"},
              {.pattern = "out of memory", .certainty = 93, .frame = "_optim_utils.py"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "_optim_utils.py"},
              {.pattern = "out of memory", .certainty = 93, .frame = "in get_state_dict"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "in get_state_dict"},
              {.pattern = "out of memory", .certainty = 93, .frame = "in _get_model_state_dict"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "in _get_model_state_dict"},
              {.pattern = "out of memory", .certainty = 93, .frame = "in get_model_state_dict"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "in get_model_state_dict"},
              {.pattern = "out of memory", .certainty = 93, .frame = "in save_model"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "in save_model"},
              {.pattern = "out of memory", .certainty = 93, .frame = "in _save_checkpoint"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "in _save_checkpoint"},
              {.pattern = "out of memory", .certainty = 93, .frame = "in save_fsdp_model"},
              {.pattern = "outofmemoryerror", .certainty = 93, .frame = "in save_fsdp_model"},
              in_a_save_of_zero3("out of memory", "in save_16bit_model"),
              in_a_save_of_zero3("outofmemoryerror", "in save_16bit_model"),
              in_a_save_of_zero3("out of memory", "in _zero3_consolidated_16bit_state_dict"),
              in_a_save_of_zero3("outofmemoryerror", "in _zero3_consolidated_16bit_state_dict"),
          },
      .checks = {{.needs = {Need::configuration, Need::prediction}, .run = check_full_save}},
  };
}

Rule full_is_slow() {
  return {
      .id = "checkpoint/full-is-slow",
      .codes = {"A-13", "B-16"},
      .title = "full checkpoints are slow",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::prediction},
      .threshold = "gather and write above 5 % of the save interval (a proposal, to be tuned)",
      .source = "torch.distributed.checkpoint",
      .message = "Gathering and writing the full model takes a noticeable part of the time.",
      .explanation =
          "The sharded type with the distributed writer writes in parallel (FSDP1 still gathers unit by "
          "unit; FSDP2 does not). The optimizer's state must go through the distributed helpers.",
      .fix = {.kind = FixKind::settings, .set = {"checkpoint.type=sharded"}, .text = "save sharded"},
      .example = "--set checkpoint.type=full for 70 billion parameters",
  };
}

std::vector<Finding> check_every_save_full(const Rule& rule, const Case& facts) {
  constexpr std::int64_t k_large = 10'000'000'000;
  const Scenario& scenario = *facts.job->scenario;
  if (scenario.train->save.every == 0 || scenario.checkpoint->type != CheckpointType::full) return {};
  if (total_parameters(facts.job->planned->graph) <= k_large) return {};
  Finding finding = effect_finding(rule, facts, {{"checkpoint.type=sharded"}});
  finding.evidence = {evidence_of_key(facts, "checkpoint.type"), evidence_of_key(facts, "train.save.every")};
  return {finding};
}

Rule too_large() {
  return {
      .id = "checkpoint/too-large",
      .codes = {"D-15"},
      .title = "every checkpoint is full",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .source = "torch.distributed.checkpoint",
      .message = "Every save holds all in one file.",
      .explanation = "The sharded type has the same bytes in all, spread over ranks.",
      .fix = {.kind = FixKind::settings,
              .set = {"checkpoint.type=sharded"},
              .text = "save sharded while training, full at the end"},
      .example = "--set checkpoint.type=full --set train.save.every=100",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction},
                  .run = check_every_save_full}},
  };
}

std::vector<Finding> check_sharded_save(const Rule& rule, const Case& facts) {
  const auto phase = exceeding_phase(facts);
  if (!phase || phase->on_host || phase->phase != LifePhase::save_sharded) return {};
  if (facts_of(*facts.job->scenario).framework != Framework::fsdp1) return {};
  std::vector<std::vector<std::string>> levels = {{"checkpoint.offload_to_cpu=true"}};
  for (std::vector<std::string>& other : strategy_settings(Framework::fsdp2))
    levels.push_back(std::move(other));
  return {save_finding(rule, facts, *phase, std::move(levels))};
}

Rule sharded_save_peak() {
  return {
      .id = "checkpoint/sharded-save-peak",
      .codes = {"X-17"},
      .title = "FSDP1 gathers while it saves",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::prediction},
      .threshold = "states, copies of them and the largest unit in float32 above the free memory",
      .source = "torch/distributed/fsdp/_state_dict_utils.py",
      .message =
          "A sharded save of FSDP1 gathers unit by unit: its largest unit does not fit beside the states.",
      .explanation =
          "The sharded state dict is made from the unsharded flat parameter, and copies of parameters and "
          "of the optimizer's state stay on the device beside it unless they go to the CPU.",
      .fix = {.kind = FixKind::settings,
              .set = {"checkpoint.offload_to_cpu=true"},
              .text = "offload to CPU; FSDP2 does not gather"},
      .example = "--set checkpoint.type=sharded under FSDP1, whose states take 60 % of a device",
      .checks = {{.needs = {Need::configuration, Need::prediction}, .run = check_sharded_save}},
  };
}

}  // namespace

std::vector<Rule> checkpoint_full_saves_rules() {
  return {full_on_device(), full_is_slow(), too_large(), sharded_save_peak()};
}

}  // namespace shardlab
