// The batch: what of the peak grows with it.
#include "engine/doctor/job/batch_settings.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/rules/memory/logits_signs.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

std::vector<Finding> check_batch(const Rule& rule, const Case& facts) {
  if (!lacks_memory(facts)) return {};
  Finding finding = memory_finding(rule, facts, MemoryCause::batch,
                                   {{RemedyStep::micro_batch, smaller_micro_batches(*facts.job->scenario)}});
  finding.evidence.push_back(evidence_of_key(facts, "train.micro_batch"));
  return {finding};
}

std::vector<LogSign> batch_signs() {
  std::vector<LogSign> signs = {
      {.pattern = "no executable batch size found",
       .certainty = 90,
       .message = "Every batch size down to one ran out of memory."},
      {.pattern = "cuda out of memory", .certainty = 45},
      {.pattern = "hip out of memory", .certainty = 45},
      {.pattern = "torch.outofmemoryerror", .certainty = 45},
      {.pattern = "cuda.outofmemoryerror", .certainty = 45},
      {.pattern = "out of memory", .certainty = 62, .frame = "in backward"},
      {.pattern = "outofmemoryerror", .certainty = 62, .frame = "in backward"},
      {.pattern = "out of memory", .certainty = 62, .frame = "autograd/__init__.py"},
      {.pattern = "outofmemoryerror", .certainty = 62, .frame = "autograd/__init__.py"},
      {.pattern = "out of memory", .certainty = 62, .frame = "loss.py"},
      {.pattern = "outofmemoryerror", .certainty = 62, .frame = "loss.py"},
  };
  for (const LogSign& sign : logits_signs()) signs.push_back(sign);
  return signs;
}

Rule batch_too_large() {
  return {
      .id = "memory/batch-too-large",
      .codes = {"A-07", "C-03", "D-06", "E-08"},
      .title = "the batch does not fit",
      .severity = Severity::error,
      .needs = {Need::prediction, Need::log},
      .threshold = "predicted peak above the device's memory, activations proportional to the micro-batch",
      .source = "shardlab's prediction; c10/cuda/CUDACachingAllocator.cpp",
      .message =
          "Memory ran out; of what lives then, activations grow with the micro-batch and the sequence "
          "length.",
      .explanation =
          "The local batch counts per device. A smaller micro-batch with more accumulation keeps the global "
          "batch and lowers activations in proportion.",
      .fix = {.kind = FixKind::settings,
              .text = "halve train.micro_batch and double train.accumulation: the global batch stays"},
      .example = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
      .signs = batch_signs(),
      .checks = {{.needs = {Need::prediction}, .run = check_batch}},
  };
}

std::vector<Finding> check_accumulation(const Rule& rule, const Case& facts) {
  const TrainSpec& train = *facts.job->scenario->train;
  if (!lacks_memory(facts) || train.accumulation > 1 || train.micro_batch < 2) return {};
  Finding finding = memory_finding(rule, facts, std::nullopt,
                                   {{RemedyStep::micro_batch, smaller_micro_batches(*facts.job->scenario)}});
  finding.message = rule.message;
  finding.evidence = {evidence_of_key(facts, "train.accumulation")};
  return {finding};
}

Rule accumulate() {
  return {
      .id = "training/accumulate",
      .codes = {"C-07"},
      .title = "a large batch can be accumulated",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::prediction},
      .threshold = "accumulation 1 and predicted peak above the device's memory",
      .source = "shardlab's prediction",
      .message = "The global batch does not fit at once; nothing is accumulated.",
      .explanation =
          "Accumulation costs gathers in every micro-step where parameters are sharded, or unsharded "
          "gradients where their reduction waits for the last one.",
      .fix = {.kind = FixKind::settings, .text = "raise train.accumulation and lower train.micro_batch"},
      .example = "--set train.micro_batch=32 --set train.accumulation=1",
      .checks = {{.needs = {Need::configuration, Need::prediction}, .run = check_accumulation}},
  };
}

Rule keep_global_batch() {
  return {
      .id = "training/keep-global-batch",
      .codes = {"D-07"},
      .title = "the global batch is kept by accumulating",
      .severity = Severity::info,
      .needs = {},
      .source = "shardlab's prediction",
      .message =
          "A smaller micro-batch changes the global batch unless accumulation rises by the same factor.",
      .explanation =
          "With gradients that are reduced only in the last micro-step they stay unsharded in between; the "
          "prediction says how many bytes that is.",
      .fix = {.kind = FixKind::settings,
              .text = "multiply train.accumulation by what train.micro_batch was divided by"},
      .example = "--set train.micro_batch=1",
  };
}

std::vector<Finding> check_larger_batch(const Rule& rule, const Case& facts) {
  const Scenario& scenario = *facts.job->scenario;
  if (!is_on_gpus(facts) || lacks_memory(facts)) return {};
  std::vector<std::vector<std::string>> levels = larger_micro_batches(scenario);
  const bool same_batch = !levels.empty();
  if (!same_batch) levels = larger_global_batches(scenario);
  Finding finding = speed_finding(rule, facts, std::move(levels));
  finding.message = same_batch ? "A larger micro-batch fits, with less accumulation the same global batch."
                               : "A larger micro-batch fits; the global batch grows with it.";
  if (!same_batch) finding.severity = Severity::info;
  finding.evidence = {evidence_of_key(facts, "train.micro_batch")};
  return {finding};
}

Rule largest_batch() {
  return {
      .id = "training/largest-batch",
      .codes = {"D-27"},
      .title = "the largest micro-batch is found by prediction",
      .severity = Severity::info,
      .needs = {Need::prediction},
      .threshold = "peak of a larger micro-batch below the device's memory with a margin",
      .source = "shardlab's search",
      .message = "A larger micro-batch would fit.",
      .explanation =
          "A sweep of predictions finds the largest micro-batch below the device's memory; one real run "
          "confirms it.",
      .fix = {.kind = FixKind::settings,
              .text = "raise train.micro_batch; `shardlab search S` tries more, a run confirms the best"},
      .example = "a predicted peak of half the device's memory",
      .checks = {{.needs = {Need::prediction}, .run = check_larger_batch}},
  };
}

}  // namespace

std::vector<Rule> memory_batch_size_rules() {
  return {batch_too_large(), accumulate(), keep_global_batch(), largest_batch()};
}

}  // namespace shardlab
