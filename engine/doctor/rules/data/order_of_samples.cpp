// Which samples a rank sees.
#include "engine/doctor/case.h"
#include "engine/doctor/program/program_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<Finding> check_sampler(const Rule& rule, const Case& facts) {
  const TrainingProgram& program = *facts.program;
  const bool splits =
      first_line_with(program, {"Sampler(", "split_dataset_by_node(", ".shard(", "sampler="}).has_value();
  if (!is_plain_and_distributed(program) || splits) return {};
  for (const Call& loader : calls_of(program, "DataLoader")) {
    if (loader.arguments.find("shuffle=True") == std::string::npos) continue;
    Finding finding = finding_of_program(rule, 80, {loader});
    finding.message = "Data are shuffled without a distributed sampler: every rank reads all of them.";
    return {finding};
  }
  return {};
}

// Only worth knowing: a module that is imported may set them.
std::vector<Finding> check_seeds(const Rule& rule, const Case& facts) {
  const TrainingProgram& program = *facts.program;
  const auto group = first_line_with(program, {"init_process_group(", "init_device_mesh("});
  if (!group || !is_plain_and_distributed(program) || first_line_with(program, {"seed"})) return {};
  Finding finding = finding_of_program(rule, 60, {*group});
  finding.severity = Severity::info;
  finding.message = "The program sets no seed: ranks may start differently, and runs cannot be repeated.";
  finding.fix.text =
      "torch.manual_seed(SEED) before the model is made, SEED plus the rank for data and dropout";
  return {finding};
}

Rule repeated_samples() {
  return {
      .id = "data/repeated-samples",
      .codes = {"C-18"},
      .title = "a streaming data set repeats samples",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch.utils.data.IterableDataset",
      .message = "An iterable data set with several workers is not split: every worker reads all of it.",
      .explanation =
          "Each worker has a copy of the data set and iterates it whole, unless it splits by worker and "
          "rank.",
      .fix = {.kind = FixKind::code,
              .text = "split by worker and rank (get_worker_info, split_dataset_by_node)"},
      .example =
          "UserWarning: Length of IterableDataset was reported to be 100 but 101 samples have been fetched.",
      .signs =
          {
              {.pattern = "length of iterabledataset*samples have been fetched", .certainty = 88},
              {.pattern = "too many dataloader workers*max is dataset*shards", .certainty = 75},
              {.pattern = "too many dataloader workers", .certainty = 70},
              {.pattern = "iterabledataset*num_shards", .certainty = 40},
          },
  };
}

Rule sampler() {
  return {
      .id = "data/sampler",
      .codes = {"E-32"},
      .title = "ranks do not see their own part of the data",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::program},
      .source = "torch.utils.data.DistributedSampler",
      .message = "Data are shuffled without a distributed sampler, or its epoch is never set.",
      .explanation = "Every rank would read the same, or the same order every epoch.",
      .fix = {.kind = FixKind::code, .text = "use a DistributedSampler and call set_epoch"},
      .example = "DataLoader(data, shuffle=True) on four ranks",
      .checks = {{.needs = {Need::program}, .run = check_sampler}},
  };
}

Rule seeds() {
  return {
      .id = "data/seeds",
      .codes = {"E-31"},
      .title = "seeds are not set",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::program},
      .source = "torch.manual_seed",
      .message = "Seeds are unset, so that ranks start differently and runs cannot be repeated.",
      .explanation = "The same seed for initialisation, a rank-dependent one for data and dropout.",
      .fix = {.kind = FixKind::settings, .text = "set train.seed"},
      .example = "a program without manual_seed",
      .checks = {{.needs = {Need::program}, .run = check_seeds}},
  };
}

}  // namespace

std::vector<Rule> data_order_of_samples_rules() {
  return {repeated_samples(), sampler(), seeds()};
}

}  // namespace shardlab
