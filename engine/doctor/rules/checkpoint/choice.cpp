// Which form a checkpoint should have.
#include <fmt/format.h>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

std::vector<Finding> check_sharded_only(const Rule& rule, const Case& facts) {
  const Scenario& scenario = *facts.job->scenario;
  if (scenario.train->save.every == 0 || scenario.checkpoint->type != CheckpointType::sharded) return {};
  Finding finding = finding_of(rule);
  finding.evidence = {evidence_of_key(facts, "checkpoint.type")};
  return {finding};
}

// What a full save gathers goes through one rank.
std::vector<Finding> check_many_ranks(const Rule& rule, const Case& facts) {
  constexpr int k_many_ranks = 64;
  const Scenario& scenario = *facts.job->scenario;
  if (scenario.train->save.every == 0 || scenario.checkpoint->type != CheckpointType::full ||
      facts.job->planned->plan.steady.world_size < k_many_ranks)
    return {};
  Finding finding = effect_finding(rule, facts, {{"checkpoint.type=sharded"}});
  finding.message = fmt::format("{} ranks wait while rank 0 writes a full checkpoint every {} steps.",
                                facts.job->planned->plan.steady.world_size, scenario.train->save.every);
  finding.evidence = {evidence_of_key(facts, "checkpoint.type"), evidence_of_key(facts, "train.save.every")};
  return {finding};
}

Rule not_for_plain_model() {
  return {
      .id = "checkpoint/not-for-plain-model",
      .codes = {"A-14", "B-15"},
      .title = "a sharded checkpoint does not load in a plain model",
      .severity = Severity::info,
      .needs = {Need::configuration},
      .source = "torch/distributed/checkpoint/format_utils.py",
      .message = "The last save is sharded; a single process needs a full one.",
      .explanation = "Convert offline (torch.distributed.checkpoint.format_utils) or save once as full.",
      .fix = {.kind = FixKind::settings,
              .set = {"checkpoint.type=full"},
              .text = "save the last one as full"},
      .example = "--set checkpoint.type=sharded for inference",
      .checks = {{.needs = {Need::configuration}, .run = check_sharded_only}},
  };
}

Rule state_dict_choice() {
  return {
      .id = "checkpoint/state-dict-choice",
      .codes = {"D-24"},
      .title = "the type of the checkpoint does not suit its use",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "full saves of 64 ranks or more (a proposal, to be tuned)",
      .source = "torch.distributed.fsdp.StateDictType",
      .message = "Full is portable and slow, sharded is for resuming, local for the same world only.",
      .explanation = "A full state dict is gathered through one host, however many ranks there are.",
      .fix = {.kind = FixKind::settings,
              .set = {"checkpoint.type=sharded"},
              .text = "save sharded while training, full at the end"},
      .example = "--set checkpoint.type=full for 70 billion parameters",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_many_ranks}},
  };
}

}  // namespace

std::vector<Rule> checkpoint_choice_rules() {
  return {not_for_plain_model(), state_dict_choice()};
}

}  // namespace shardlab
