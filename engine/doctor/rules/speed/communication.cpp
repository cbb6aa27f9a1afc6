// Time that communication takes.
#include <fmt/format.h>

#include "engine/doctor/job/batch_settings.h"
#include "engine/doctor/job/exposed_by.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/job/strategy_settings.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

const RankTrace& first_rank(const JobFacts& job) {
  return job.trace->steps.front().ranks.front();
}

double share_of_step(const JobFacts& job, Nanoseconds time) {
  const std::int64_t step = first_rank(job).duration.value;
  return step > 0 ? static_cast<double>(time.value) / static_cast<double>(step) : 0;
}

// What shortens the wait for collectives, whatever strategy: settings that it does not know are not tried.
std::vector<std::vector<std::string>> hiding(const JobFacts& job) {
  std::vector<std::vector<std::string>> settings = {
      {"parallel.prefetch.backward=pre"},
      {"parallel.prefetch.forward=true"},
      {"parallel.prefetch.forward_depth=2", "parallel.prefetch.backward_depth=2"},
      {"parallel.reshard_after_forward=false"},
      {"parallel.sharding=shard_grad_op"},
      {"parallel.zero.overlap_comm=true"},
      {"parallel.ddp.bucket_size=100MiB"},
      {"train.sync=last"}};
  if (job.device->nodes > 1)
    settings.push_back({fmt::format("parallel.mesh={{replicate: {}}}", job.device->nodes)});
  for (std::vector<std::string>& larger : larger_micro_batches(*job.scenario))
    settings.push_back(std::move(larger));
  return settings;
}

std::string kind_words(const StepPlan& plan, const ExposedBy& by) {
  const int ranks = by.group ? plan.groups[by.group->index()].size : plan.world_size;
  return fmt::format("{} over {} ranks", to_string(by.kind), ranks);
}

// How long a forward, or for reductions a backward, of a segment takes on average.
Nanoseconds mean_computation(const StepPlan& plan, const RankTrace& rank, InstructionKind kind) {
  Nanoseconds sum;
  std::int64_t count = 0;
  for (const Span& span : rank.spans) {
    if (plan.instruction(span.instruction).kind != kind || span.skipped) continue;
    sum += span.end - span.start;
    ++count;
  }
  return count > 0 ? sum / count : sum;
}

std::string why_exposed(const StepPlan& plan, const RankTrace& rank, const ExposedBy& by) {
  const bool gathers = by.kind == InstructionKind::AllGather || by.kind == InstructionKind::Broadcast;
  const Nanoseconds beside =
      mean_computation(plan, rank, gathers ? InstructionKind::Forward : InstructionKind::Backward);
  const Nanoseconds each = by.takes / std::max<std::int64_t>(by.count, 1);
  if (each > beside)
    return fmt::format("one takes {}, longer than the {} of a {} that could hide it", to_string(each),
                       to_string(beside), gathers ? "forward" : "backward");
  if (by.worst_exposed.value * 2 > by.exposed.value)
    return fmt::format("mostly {}, beside which nothing computes", instruction_label(plan, by.worst));
  return fmt::format("{} of them wait their turn behind each other", by.count);
}

std::vector<Finding> check_exposed(const Rule& rule, const Case& facts) {
  constexpr double k_large = 0.2;
  const JobFacts& job = *facts.job;
  const StepPlan& plan = job.planned->plan.steady;
  const double share = share_of_step(job, job.predicted->exposed_communication);
  const std::vector<ExposedBy> kinds = exposed_by(plan, first_rank(job));
  if (share <= k_large || kinds.empty()) return {};
  const ExposedBy& most = kinds.front();
  Finding finding = speed_finding(rule, facts, hiding(job), false);
  finding.message =
      fmt::format("Computation waits for communication {} of the step, most of it for {}: {}.",
                  share_words(share), kind_words(plan, most), why_exposed(plan, first_rank(job), most));
  finding.evidence = {
      evidence_of_figure(facts, "exposed communication",
                         fmt::format("{}, {} of it {}", to_string(job.predicted->exposed_communication),
                                     to_string(most.exposed), kind_words(plan, most))),
      evidence_of_instruction(facts, most.worst, fmt::format("{} exposed", to_string(most.worst_exposed)))};
  return {finding};
}

Rule exposed() {
  return {
      .id = "speed/exposed",
      .codes = {"E-12"},
      .title = "communication is exposed",
      .severity = Severity::warning,
      .needs = {Need::files, Need::plan, Need::prediction, Need::measurement},
      .threshold = "exposed above 20 % of the step (a proposal, to be tuned)",
      .source = "shardlab's prediction",
      .message = "Communication that nothing hides takes a large part of the step.",
      .explanation = "Which collective is exposed, and why, tells what to change.",
      .fix = {.kind = FixKind::settings, .text = "hide more of it, or send less"},
      .example = "31 % exposed in a predicted step",
      .faults = {{.code = ErrorCode::nothing_overlaps}},
      .checks = {{.needs = {Need::plan, Need::prediction}, .run = check_exposed}},
  };
}

std::vector<Finding> check_tiny_batches(const Rule& rule, const Case& facts) {
  const JobFacts& job = *facts.job;
  const StepPlan& plan = job.planned->plan.steady;
  if (!gathers(plan)) return {};
  Nanoseconds gather_time;
  std::int64_t count = 0;
  for (const ExposedBy& by : exposed_by(plan, first_rank(job))) {
    if (by.kind != InstructionKind::AllGather) continue;
    gather_time += by.takes;
    count += by.count;
  }
  const Nanoseconds computes = mean_computation(plan, first_rank(job), InstructionKind::Forward);
  if (count == 0 || gather_time / count <= computes) return {};
  std::vector<std::vector<std::string>> larger = larger_micro_batches(*job.scenario);
  const bool same_batch = !larger.empty();
  if (!same_batch) larger = larger_global_batches(*job.scenario);
  Finding finding = speed_finding(rule, facts, std::move(larger), false);
  if (!same_batch) finding.severity = Severity::info;
  finding.message = fmt::format("A gather takes {} on average, the forward that could hide it {}.",
                                to_string(gather_time / count), to_string(computes));
  finding.evidence = {evidence_of_key(facts, "train.micro_batch")};
  return {finding};
}

Rule tiny_batches() {
  return {
      .id = "speed/tiny-batches",
      .codes = {"E-13", "E-29"},
      .title = "the batch is too small for its gathers",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "computation a gather below its transfer",
      .source = "shardlab's prediction",
      .message = "Computation of a unit takes less than its transfer.",
      .explanation =
          "A larger micro-batch raises computation a gather; accumulation alone does not cut gathers under "
          "stage 3.",
      .fix = {.kind = FixKind::settings, .text = "raise train.micro_batch"},
      .example = "--set train.micro_batch=1 with short sequences",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_tiny_batches}},
  };
}

std::vector<Finding> check_too_frequent(const Rule& rule, const Case& facts) {
  const Scenario& scenario = *facts.job->scenario;
  if (micro_batches_of_step(scenario) < 2 || facts.job->planned->plan.steady.world_size == 1) return {};
  const bool always = facts_of(scenario).reduces_every_micro_batch;
  if (!always && !reduces_every_micro_batch(scenario)) return {};
  std::vector<std::vector<std::string>> settings = {{"train.sync=last"}};
  if (always) settings = strategy_settings(Framework::deepspeed, 1);
  Finding finding = speed_finding(rule, facts, std::move(settings), false);
  finding.evidence = {evidence_of_key(facts, always ? "parallel.strategy" : "train.sync"),
                      evidence_of_key(facts, "train.accumulation")};
  return {finding};
}

Rule too_frequent() {
  return {
      .id = "speed/too-frequent",
      .codes = {"E-16"},
      .title = "gradients are reduced in every micro-step",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::plan, Need::prediction},
      .threshold = "accumulation above 1 and a reduction a micro-step",
      .source = "FSDP's no_sync; deepspeed/runtime/zero/stage_1_and_2.py",
      .message = "Accumulation reduces gradients every micro-step.",
      .explanation = "Waiting for the last costs memory and saves communication; stage 2 cannot wait.",
      .fix = {.kind = FixKind::settings,
              .set = {"train.sync=last"},
              .text = "reduce once a step where memory allows"},
      .example = "--set train.accumulation=8",
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_too_frequent}},
  };
}

std::vector<Finding> check_communication_bound(const Rule& rule, const Case& facts) {
  constexpr double k_large = 0.5;
  const JobFacts& job = *facts.job;
  const StepPlan& plan = job.planned->plan.steady;
  Nanoseconds takes;
  for (const ExposedBy& by : exposed_by(plan, first_rank(job))) takes += by.takes;
  const double share = share_of_step(job, takes);
  if (share <= k_large) return {};
  Finding finding = speed_finding(rule, facts, hiding(job), false);
  finding.message = fmt::format("Collectives run {} of the step.", share_words(share));
  for (const CommunicationTotal& total : job.predicted->communication) {
    finding.evidence.push_back(
        evidence_of_figure(facts, "communication",
                           fmt::format("{} x {} over {} ranks, {}", total.count, to_string(total.kind),
                                       total.group_size, to_string(total.bytes))));
  }
  return {finding};
}

Rule communication_bound() {
  return {
      .id = "speed/communication-bound",
      .codes = {"E-27"},
      .title = "communication is more than half of the step",
      .severity = Severity::warning,
      .needs = {Need::plan, Need::prediction},
      .threshold = "communication above 50 % of the step",
      .source = "shardlab's prediction",
      .message = "All communication takes more than half of the step.",
      .explanation = "Bytes by link show where; tuning of the environment comes last.",
      .fix = {.kind = FixKind::settings, .text = "hybrid sharding or a larger micro-batch"},
      .example = "60 % communication in a predicted step",
      .checks = {{.needs = {Need::plan, Need::prediction}, .run = check_communication_bound}},
  };
}

Rule compression() {
  return {
      .id = "speed/compression",
      .codes = {"E-14"},
      .title = "compressed communication",
      .severity = Severity::info,
      .needs = {},
      .source = "deepspeed/runtime/zero/config.py",
      .message = "DeepSpeed has quantised weights and gradients (ZeRO++) and 1-bit optimizers.",
      .explanation = "A 16-bit reduction type is the first step; other blocks of that name do nothing.",
      .fix = {.kind = FixKind::settings,
              .set = {"precision.reduce=bfloat16"},
              .text = "reduce in 16 bits, or use ZeRO++"},
      .example = "a wish for fewer bytes",
  };
}

}  // namespace

std::vector<Rule> speed_communication_rules() {
  return {exposed(), tiny_batches(), too_frequent(), communication_bound(), compression()};
}

}  // namespace shardlab
