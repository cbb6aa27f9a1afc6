// Memory that is reserved and cannot be used.
#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/cluster_spec.h"

namespace shardlab {
namespace {

// Proposals, to be tuned by measurement.
constexpr double k_large_share = 0.15;  // of the device
constexpr double k_some_share = 0.02;

constexpr std::string_view k_flushed =
    "The allocator found no room, emptied its cache and tried again: the job goes on, and the device stands "
    "still meanwhile.";
constexpr std::string_view k_less_pressure =
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; where it goes on flushing, lower the peak: a smaller "
    "micro-batch with more accumulation, activation checkpointing";

std::vector<Finding> check_idle_reserve(const Rule& rule, const Case& facts) {
  for (const SeenAllocation& failed : facts.log->allocations) {
    const AllocatorMessage& message = failed.message;
    const auto idle = idle_reserve(message);
    if (!idle || !message.capacity || message.capacity->value <= 0) continue;
    const double share = static_cast<double>(idle->value) / static_cast<double>(message.capacity->value);
    const bool would_do = message.asked && *idle >= *message.asked && share > k_some_share;
    if (share <= k_large_share && !would_do) continue;
    Finding finding = finding_of(rule);
    finding.message = fmt::format(
        "{} ({:.0f} % of the device) are reserved and not allocated{}.", to_string(*idle), share * 100,
        message.asked ? fmt::format(", and {} were not to be had", to_string(*message.asked))
                      : std::string());
    finding.certainty = share > k_large_share ? 95 : 64;
    finding.position = failed.at.line;
    finding.evidence.push_back(evidence_of(facts, failed.at));
    return {finding};
  }
  return {};
}

std::vector<Finding> check_predicted_reserve(const Rule& rule, const Case& facts) {
  constexpr double k_idle = 0.15;
  const RunSummary& run = *facts.job->predicted;
  if (!lacks_memory(facts) || idle_share(run) <= k_idle ||
      !facts.job->scenario->cluster->allocator_conf.empty())
    return {};
  Finding finding =
      memory_finding(rule, facts, MemoryCause::fragmentation,
                     {{RemedyStep::limits, {{"cluster.allocator.conf=expandable_segments:True"}}}});
  finding.evidence.push_back(
      evidence_of_figure(facts, "reserved",
                         fmt::format("{}, of them {} of the device not allocated",
                                     to_string(*run.memory->peak_reserved), share_words(idle_share(run)))));
  return {finding};
}

// The allocator frees all that it caches when it finds no room, and tries again: it waits for the device
// then.
std::vector<Finding> check_retries(const Rule& rule, const Case& facts) {
  const auto& memory = facts.job->measured->memory;
  if (!memory || memory->allocator_retries.value_or(0) == 0) return {};
  Finding finding = finding_of(rule);
  finding.severity = Severity::warning;
  finding.message = fmt::format(
      "The allocator found no room, emptied its cache and tried again {} time{}: the device stood "
      "still meanwhile.",
      *memory->allocator_retries, *memory->allocator_retries == 1 ? "" : "s");
  finding.evidence = {evidence_of_measurement(
      facts, "peak",
      fmt::format(
          "{} allocated{}", to_string(memory->peak_allocated),
          memory->peak_reserved ? fmt::format(", {} reserved", to_string(*memory->peak_reserved)) : ""))};
  return {finding};
}

Rule fragmentation() {
  return {
      .id = "memory/fragmentation",
      .codes = {"C-09"},
      .title = "memory is fragmented",
      .severity = Severity::error,
      .needs = {Need::prediction, Need::measurement, Need::log},
      .threshold =
          "reserved minus allocated above 15 % of the device, or above what was asked for and 2 % of the "
          "device (proposals, to be tuned)",
      .source = "c10/cuda/CUDACachingAllocator.cpp; PYTORCH_CUDA_ALLOC_CONF",
      .message = "Memory that the process has reserved lies idle in pieces that are too small.",
      .explanation =
          "The allocator keeps freed blocks; blocks of many sizes leave gaps that a large request cannot "
          "use. Segments that can grow avoid that.",
      .fix = {.kind = FixKind::environment,
              .set = {"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
              .text = "use expandable segments; where they are not supported, max_split_size_mb:512"},
      .example =
          "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 388.00 MiB. GPU 0 has a total "
          "capacity of 9.68 GiB of which 95.75 MiB is free. Including non-PyTorch memory, this process has "
          "9.54 GiB memory in use. Of the allocated memory 6.61 GiB is allocated by PyTorch, and 2.57 GiB is "
          "reserved by PyTorch but unallocated.",
      .signs =
          {
              {.pattern = "pytorch allocator cache flushes since last step",
               .certainty = 70,
               .message = k_flushed,
               .fix = k_less_pressure,
               .most = Severity::warning},
          },
      .checks = {{.needs = {Need::log}, .run = check_idle_reserve},
                 {.needs = {Need::prediction}, .run = check_predicted_reserve},
                 {.needs = {Need::measurement}, .run = check_retries}},
  };
}

}  // namespace

std::vector<Rule> memory_fragmentation_rules() {
  return {fragmentation()};
}

}  // namespace shardlab
