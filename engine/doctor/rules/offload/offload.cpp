// States on the host or on NVMe.
#include <fmt/format.h>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/job/phases.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/offload_spec.h"

namespace shardlab {
namespace {

bool offloads(const Case& facts) {
  const OffloadSpec& offload = *facts.job->scenario->offload;
  return offload.parameters != OffloadTarget::none || offload.optimizer != OffloadTarget::none;
}

// A drive that nothing lies on is refused.
std::vector<std::string> without_offload(const Case& facts) {
  std::vector<std::string> settings{"offload={}"};
  if (facts.job->scenario->offload->optimizer == OffloadTarget::nvme)
    settings.emplace_back("cluster.nvme={}");
  return settings;
}

Evidence evidence_of_offload(const Case& facts) {
  const bool parameters = facts.job->scenario->offload->parameters != OffloadTarget::none;
  return evidence_of_key(facts, parameters ? "offload.parameters" : "offload.optimizer");
}

std::vector<Finding> check_not_needed(const Rule& rule, const Case& facts) {
  if (!offloads(facts)) return {};
  Finding finding = speed_finding(rule, facts, {without_offload(facts)});
  finding.message = "What is offloaded would fit on the device.";
  finding.evidence = {evidence_of_offload(facts)};
  return {finding};
}

Rule not_needed() {
  return {
      .id = "offload/not-needed",
      .codes = {"B-17", "D-23"},
      .title = "offload is not needed",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::prediction},
      .threshold = "peak without offload below the device's memory",
      .source = "shardlab's prediction",
      .message = "Parameters are offloaded although they fit.",
      .explanation = "Every step copies them over PCIe.",
      .fix = {.kind = FixKind::settings,
              .set = {"offload.parameters=none"},
              .text = "keep parameters on the device"},
      .example = "--set offload.parameters=cpu for a small model",
      .checks = {{.needs = {Need::configuration, Need::prediction}, .run = check_not_needed}},
  };
}

// Copies between host and device, and updates on the host, as a share of the first rank's step.
double share_of_offload(const JobFacts& job) {
  const StepPlan& plan = job.planned->plan.steady;
  const RankTrace& rank = job.trace->steps.front().ranks.front();
  Nanoseconds taken;
  for (const Span& span : rank.spans) {
    const Instruction& instruction = plan.instruction(span.instruction);
    if (span.skipped || instruction.reads.empty() || instruction.writes.empty()) continue;
    const MemorySpace from = plan.buffer(instruction.reads.front()).space;
    const MemorySpace to = plan.buffer(instruction.writes.front()).space;
    const bool copies_across = instruction.kind == InstructionKind::Copy && from != to;
    const bool updates_there = instruction.kind == InstructionKind::OptimizerStep && is_host(to);
    if (copies_across || updates_there) taken += span.end - span.start;
  }
  return rank.duration.value > 0 ? static_cast<double>(taken.value) / static_cast<double>(rank.duration.value)
                                 : 0;
}

std::vector<Finding> check_pcie(const Rule& rule, const Case& facts) {
  constexpr double k_large = 0.3;
  if (!offloads(facts)) return {};
  const double share = share_of_offload(*facts.job);
  if (share <= k_large) return {};
  Finding finding = speed_finding(rule, facts, {without_offload(facts)}, false);
  finding.message =
      fmt::format("Copies over PCIe and the update on the host take {} of the step.", share_words(share));
  finding.evidence = {evidence_of_offload(facts)};
  return {finding};
}

Rule pcie() {
  return {
      .id = "offload/pcie",
      .codes = {"D-10"},
      .title = "offload costs the time of its copies",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "time on PCIe above 30 % of the step (a proposal, to be tuned)",
      .source = "shardlab's prediction",
      .message = "Copies over PCIe take a large part of the step.",
      .explanation = "Bytes over PCIe set a floor; the guides say two to three times slower.",
      .fix = {.kind = FixKind::settings,
              .set = {"offload.parameters=none"},
              .text = "keep parameters on the device if they fit"},
      .example = "--set offload.parameters=cpu",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_pcie}},
  };
}

std::vector<Finding> check_host_states(const Rule& rule, const Case& facts) {
  const auto phase = steps_exceed_host(facts);
  if (!phase || !offloads(facts)) return {};
  Finding finding = finding_of(rule);
  finding.goal = Goal::fit;
  finding.certainty = 95;
  finding.remedies = {{RemedyStep::sharding, {without_offload(facts), {"offload.pin=false"}}}};
  finding.message = fmt::format("Offloaded states do not fit: {} of a node's {} of host memory.",
                                to_string(phase->needs), to_string(phase->limit));
  finding.evidence = {evidence_of_offload(facts)};
  return {finding};
}

Rule needs_nvme() {
  return {
      .id = "offload/needs-nvme",
      .codes = {"D-29"},
      .title = "the host is too small for the states",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::prediction},
      .threshold = "states of a node above its memory",
      .source = "DeepSpeed's ZeRO-Infinity",
      .message = "Offloaded states exceed the host's memory.",
      .explanation = "FSDP has no offload to NVMe; ZeRO-3 has.",
      .fix = {.kind = FixKind::settings,
              .text = "ZeRO-3 with offload to NVMe (offload.optimizer, cluster.nvme)"},
      .example = "70 billion parameters offloaded on a node of 512 GB",
      .checks = {{.needs = {Need::configuration, Need::prediction}, .run = check_host_states}},
  };
}

}  // namespace

std::vector<Rule> offload_offload_rules() {
  return {not_needed(), pcie(), needs_nvme()};
}

}  // namespace shardlab
