#include "engine/trace/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/trace/check_trace.h"
#include "engine/trace/metrics.h"
#include "engine/trace/step_time.h"

namespace shardlab {
namespace {

constexpr std::size_t k_listed_instructions = 10;

Status check_run(const StepPlan& plan, std::string_view hash, const ComparedRun& run) {
  if (run.trace.steps.empty())
    return bad_input("comparison", "a run without measured steps cannot be compared");
  for (const StepTrace& step : run.trace.steps) SHARDLAB_CHECK_OK(check_trace(plan, hash, step));
  return {};
}

std::vector<InstructionDifference> largest_differences(const StepPlan& plan, const ComparedRun& predicted,
                                                       const ComparedRun& measured) {
  const auto first = median_durations(plan, predicted.trace.steps);
  const auto second = median_durations(plan, measured.trace.steps);
  const auto step = static_cast<double>(measured.summary.step_time.median.value);
  std::vector<InstructionDifference> rows;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i] || !second[i] || *first[i] == *second[i]) continue;
    InstructionDifference row;
    row.instruction = make_id<InstructionId>(i);
    row.kind = plan.instructions[i].kind;
    row.predicted = *first[i];
    row.measured = *second[i];
    row.share = step > 0 ? static_cast<double>(row.measured.value) / step : 0;
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::abs(a.difference().value) > std::abs(b.difference().value);
  });
  rows.resize(std::min(rows.size(), k_listed_instructions));
  for (InstructionDifference& row : rows) row.label = instruction_label(plan, row.instruction);
  return rows;
}

// The rank of the prediction that stands for a measured one.
const RankTrace& counterpart(const StepTrace& predicted, int rank) {
  const auto found = std::find_if(predicted.ranks.begin(), predicted.ranks.end(),
                                  [rank](const RankTrace& candidate) { return candidate.rank == rank; });
  return found == predicted.ranks.end() ? predicted.ranks.front() : *found;
}

// Calls visit(predicted sample, measured sample) for every sample of `measured` that has a counterpart.
template <typename Visit>
void join_memory(const RunTrace& predicted, const RunTrace& measured, Visit visit) {
  for (const StepTrace& step : measured.steps) {
    for (const RankTrace& rank : step.ranks) {
      const std::vector<MemorySample>& samples = counterpart(predicted.steps.front(), rank.rank).memory;
      auto other = samples.begin();
      for (const MemorySample& sample : rank.memory) {
        while (other != samples.end() && other->instruction < sample.instruction) ++other;
        if (other != samples.end() && other->instruction == sample.instruction) visit(*other, sample);
      }
    }
  }
}

double relative_difference(Bytes predicted, Bytes measured) {
  if (predicted == measured) return 0;
  if (measured.value == 0) return 1;
  return std::abs(static_cast<double>(predicted.value) / static_cast<double>(measured.value) - 1);
}

std::optional<MemoryDifference> memory_difference(const StepPlan& plan, const RunTrace& predicted,
                                                  const RunTrace& measured) {
  MemoryDifference result;
  const auto note = [&](Bytes a, Bytes b, InstructionId at) {
    const double difference = relative_difference(a, b);
    if (difference <= result.largest) return;
    result.largest = difference;
    result.instruction = at;
    result.predicted = a;
    result.measured = b;
  };
  join_memory(predicted, measured, [&](const MemorySample& a, const MemorySample& b) {
    if (result.borders++ == 0) {
      result.instruction = b.instruction;
      result.predicted = a.live;
      result.measured = b.live;
    }
    note(a.live, b.live, b.instruction);
    for (std::size_t i = 0; i < k_memory_spaces; ++i) note(a.elsewhere[i], b.elsewhere[i], b.instruction);
    if (a.live == b.live && a.elsewhere == b.elsewhere) ++result.equal;
  });
  if (result.borders == 0) return std::nullopt;
  result.label = instruction_label(plan, result.instruction);
  return result;
}

std::optional<UnpredictedWorkspace> unpredicted_workspace(const StepPlan& plan, const RunTrace& predicted,
                                                          const RunTrace& measured) {
  constexpr auto k_workspace = static_cast<std::size_t>(BufferClass::workspace);
  UnpredictedWorkspace result;
  bool joined = false;
  join_memory(predicted, measured, [&](const MemorySample& a, const MemorySample& b) {
    const Bytes beyond = b.by_class_at_peak[k_workspace] - a.by_class_at_peak[k_workspace];
    if (!joined || beyond > result.bytes) {
      result.bytes = std::max(beyond, Bytes{});
      result.instruction = b.instruction;
    }
    joined = true;
  });
  if (!joined) return std::nullopt;
  result.label = instruction_label(plan, result.instruction);
  return result;
}

void add_live_bytes(Comparison& comparison, const Tolerances& tolerances) {
  std::optional<double> predicted, measured;
  if (comparison.memory) {
    predicted = static_cast<double>(comparison.memory->predicted.value);
    measured = static_cast<double>(comparison.memory->measured.value);
  }
  Metric metric =
      judged_metric(std::string(k_live_bytes), MetricUnit::bytes, predicted, measured, tolerances);
  if (predicted || metric.tolerance) comparison.metrics.push_back(std::move(metric));
}

}  // namespace

Result<Comparison> compare(const StepPlan& steady, const ComparedRun& predicted, const ComparedRun& measured,
                           const std::map<std::string, double>& tolerance) {
  if (predicted.summary.plan_hash != measured.summary.plan_hash) {
    return bad_input(
        "comparison",
        fmt::format(
            "the runs follow different plans, {:.12} and {:.12}: their instructions do not correspond",
            predicted.summary.plan_hash, measured.summary.plan_hash),
        "compare runs of one scenario made by the same version of shardlab");
  }
  const std::string hash = plan_hash(steady);
  SHARDLAB_CHECK_OK(check_run(steady, hash, predicted));
  SHARDLAB_CHECK_OK(check_run(steady, hash, measured));
  SHARDLAB_TRY(Comparison comparison, compare_summaries(predicted.summary, measured.summary, tolerance));
  comparison.plan_hash = hash;
  comparison.instructions = largest_differences(steady, predicted, measured);
  comparison.memory = memory_difference(steady, predicted.trace, measured.trace);
  comparison.workspace = unpredicted_workspace(steady, predicted.trace, measured.trace);
  std::erase_if(comparison.metrics, [](const Metric& metric) { return metric.name == k_live_bytes; });
  add_live_bytes(comparison, tolerance);
  comparison.verdict = overall_verdict(comparison.metrics);
  return comparison;
}

Result<Comparison> compare_summaries(const RunSummary& first, const RunSummary& second,
                                     const std::map<std::string, double>& tolerance) {
  SHARDLAB_CHECK_OK(check_tolerances(tolerance));
  Comparison comparison;
  comparison.first_kind = first.kind;
  comparison.second_kind = second.kind;
  comparison.metrics = summary_metrics(first, second, tolerance);
  add_live_bytes(comparison, tolerance);
  comparison.verdict = overall_verdict(comparison.metrics);
  return comparison;
}

}  // namespace shardlab
