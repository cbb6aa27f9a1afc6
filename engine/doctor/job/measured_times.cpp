#include "engine/doctor/job/measured_times.h"

#include <algorithm>
#include <map>
#include <vector>

#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/series/median.h"
#include "engine/trace/rank_waits.h"

namespace shardlab {
namespace {

constexpr StreamId k_compute{0};
constexpr Bytes k_large = mebibytes(1);

const StepPlan& steady_of(const Case& facts) {
  return facts.job->planned->plan.steady;
}

// The steps that were measured with the plan that is looked at.
std::vector<const StepTrace*> steady_steps(const Case& facts) {
  std::vector<const StepTrace*> steps;
  const JobFacts& job = *facts.job;
  if (job.measured_trace == nullptr || job.measured == nullptr || job.predicted == nullptr ||
      job.measured->plan_hash != job.predicted->plan_hash)
    return steps;
  for (const StepTrace& step : job.measured_trace->steps) {
    if (step.plan_hash == job.measured->plan_hash) steps.push_back(&step);
  }
  return steps;
}

bool computes(const Instruction& instruction) {
  return instruction.stream == k_compute && !is_collective(instruction.kind) &&
         !is_host_only(instruction.kind);
}

Nanoseconds computation_of(const StepPlan& plan, const RankTrace& rank) {
  Nanoseconds sum;
  for (const Span& span : rank.spans) {
    if (!span.skipped && computes(plan.instruction(span.instruction))) sum += span.end - span.start;
  }
  return sum;
}

bool is_large_collective(const Instruction& instruction) {
  return is_collective(instruction.kind) && instruction.bytes >= k_large;
}

using TimesByInstruction = std::map<InstructionId, std::vector<Nanoseconds>>;

// The time of each large collective on the rank that came last.
void add_collectives(const StepPlan& plan, const StepTrace& step, TimesByInstruction& times) {
  std::map<InstructionId, Nanoseconds> shortest;
  for (const RankTrace& rank : step.ranks) {
    for (const Span& span : rank.spans) {
      if (span.skipped || !is_large_collective(plan.instruction(span.instruction))) continue;
      const Nanoseconds time = span.end - span.start;
      const auto [known, is_new] = shortest.try_emplace(span.instruction, time);
      if (!is_new) known->second = std::min(known->second, time);
    }
  }
  for (const auto& [instruction, time] : shortest) times[instruction].push_back(time);
}

}  // namespace

std::optional<ComputeSpread> compute_spread(const Case& facts) {
  std::map<int, Nanoseconds> by_rank;
  const std::vector<const StepTrace*> steps = steady_steps(facts);
  for (const StepTrace* step : steps) {
    for (const RankTrace& rank : step->ranks) by_rank[rank.rank] += computation_of(steady_of(facts), rank);
  }
  if (by_rank.size() < 2) return std::nullopt;
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(by_rank.begin(), by_rank.end(), less);
  const auto count = static_cast<std::int64_t>(steps.size());
  return ComputeSpread{least->first, most->first, Nanoseconds{least->second.value / count},
                       Nanoseconds{most->second.value / count}};
}

std::optional<Straggler> longest_waited_for(const Case& facts) {
  const std::vector<RankWait> ranks =
      rank_waits(steady_of(facts), facts.job->planned->scenario, steady_steps(facts));
  if (ranks.empty()) return std::nullopt;
  const RankWait& most = *std::max_element(
      ranks.begin(), ranks.end(), [](const RankWait& a, const RankWait& b) { return a.held_up < b.held_up; });
  return Straggler{most.rank, most.last, most.collectives, most.held_up, most.step};
}

std::optional<CollectiveTimes> collective_times(const Case& facts) {
  const StepPlan& plan = steady_of(facts);
  TimesByInstruction measured, predicted;
  for (const StepTrace* step : steady_steps(facts)) add_collectives(plan, *step, measured);
  if (facts.job->trace != nullptr && !facts.job->trace->steps.empty())
    add_collectives(plan, facts.job->trace->steps.back(), predicted);
  CollectiveTimes times;
  Nanoseconds most_lost;
  for (const auto& [instruction, found] : measured) {
    const auto expected = predicted.find(instruction);
    if (expected == predicted.end()) continue;
    const Nanoseconds now = middle_of(found), then = middle_of(expected->second);
    times.measured += now;
    times.predicted += then;
    if (now - then <= most_lost) continue;
    most_lost = now - then;
    times.slowest = instruction;
    times.slowest_measured = now;
    times.slowest_predicted = then;
  }
  return times.predicted.value > 0 ? std::optional(times) : std::nullopt;
}

}  // namespace shardlab
