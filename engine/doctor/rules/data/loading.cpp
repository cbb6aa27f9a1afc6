// Reading and preparing batches.
#include "engine/doctor/case.h"
#include "engine/doctor/program/program_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

// Only worth knowing: nobody has measured that anything waits.
std::vector<Finding> check_workers(const Rule& rule, const Case& facts) {
  for (const Call& loader : calls_of(*facts.program, "DataLoader")) {
    const bool says = loader.arguments.find("num_workers") != std::string::npos ||
                      loader.arguments.find("**") != std::string::npos;
    if (says || loader.arguments.empty()) continue;
    Finding finding = finding_of_program(rule, 50, {loader});
    finding.severity = Severity::info;
    finding.message = "Batches are loaded by the process that trains: the loader has no workers.";
    return {finding};
  }
  return {};
}

Rule waits() {
  return {
      .id = "data/waits",
      .codes = {"C-16", "D-26"},
      .title = "the device waits for data",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::measurement, Need::log, Need::program},
      .threshold = "waiting above 5 % of the step (a proposal, to be tuned)",
      .source = "torch.utils.data.DataLoader",
      .message = "Batches are not ready in time: loading is set up too small, or a loader is stuck.",
      .explanation =
          "About four workers a GPU, pinned memory, workers that stay, and a prefetch of two hide loading "
          "behind computation.",
      .fix = {.kind = FixKind::settings,
              .set = {"train.data_workers=4", "train.pin_batches=true"},
              .text = "more workers, pinned batches, workers that persist"},
      .example =
          "UserWarning: This DataLoader will create 16 worker processes in total. Our suggested max number "
          "of worker in current system is 4",
      .signs =
          {
              {.pattern = "this dataloader will create*worker processes in total", .certainty = 80},
              {.pattern = "does not have many workers which may be a bottleneck", .certainty = 85},
              {.pattern = "dataloader*may be a bottleneck", .certainty = 84},
              {.pattern = "consider increasing the value of the `num_workers`", .certainty = 84},
              {.pattern = "dataloader timed out after", .certainty = 84},
              {.pattern = "data loading*bottleneck", .certainty = 75},
          },
      .checks = {{.needs = {Need::program}, .run = check_workers}},
  };
}

Rule transforms() {
  return {
      .id = "data/transforms",
      .codes = {"C-17"},
      .title = "transforms on the processor are the bottleneck",
      .severity = Severity::warning,
      .needs = {Need::measurement},
      .threshold = "workers at 100 %, waiting still above 5 % of the step",
      .source = "torch.utils.data",
      .message = "Workers are busy all the time and the device still waits.",
      .explanation = "Transforms can run on the device, on batches copied asynchronously from pinned memory.",
      .fix = {.kind = FixKind::code, .text = "move transforms to the device"},
      .example = "workers at 100 % of a core",
  };
}

}  // namespace

std::vector<Rule> data_loading_rules() {
  return {waits(), transforms()};
}

}  // namespace shardlab
