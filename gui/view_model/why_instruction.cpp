#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/scenario/resolve_device.h"
#include "gui/view_model/instruction_figures.h"
#include "gui/view_model/run_titles.h"
#include "gui/view_model/why.h"
#include "simulator/cost/cost_model.h"

namespace shardlab::view {
namespace {

constexpr std::size_t k_deepest = 3;  // levels of a breakdown that are listed
constexpr int k_listed_spans = 12;

const Span* span_of(const RankTrace& rank, InstructionId id) {
  const auto found = std::find_if(rank.spans.begin(), rank.spans.end(),
                                  [id](const Span& span) { return span.instruction == id; });
  return found == rank.spans.end() ? nullptr : &*found;
}

// What held it back: the wait that ended last, or the instruction before it on its stream.
void add_waits(Why& why, const LoadedRun& run, const RankTrace& rank, InstructionId id) {
  const Span* span = span_of(rank, id);
  if (span == nullptr) return;
  why.parts.push_back({"issued at", to_string(span->issue)});
  why.parts.push_back({"its waits were done at", to_string(span->ready)});
  why.parts.push_back({"ran from", to_string(span->start)});
  why.parts.push_back({"to", to_string(span->end)});
  const Span* last = nullptr;
  for (const InstructionId wait : run.plan().instruction(id).waits) {
    const Span* awaited = span_of(rank, wait);
    if (awaited != nullptr && (last == nullptr || last->end < awaited->end)) last = awaited;
  }
  if (last == nullptr || last->end <= span->issue) return;
  why.parts.push_back({"waited longest for", label_of(run, last->instruction), last->instruction});
}

// Every span where there are few, so that the median can be done once more; otherwise how far they spread.
void add_spans(Why& why, const LoadedRun& run, InstructionId id, const InstructionFigures& own) {
  if (own.n > k_listed_spans) {
    why.parts.push_back(
        {"spread", fmt::format("{} to {} over {} spans", to_string(own.least), to_string(own.most), own.n)});
    return;
  }
  why.arithmetic = Arithmetic::median;
  for (const StepTrace& step : run.record.trace.steps) {
    if (step.plan_hash != run.record.summary.plan_hash) continue;
    for (const RankTrace& rank : step.ranks) {
      const Span* const span = span_of(rank, id);
      if (span == nullptr || span->skipped) continue;
      const Nanoseconds time = span->end - span->start;
      why.parts.push_back({fmt::format("step {}, rank {}", step.step, rank.rank),
                           to_string(time),
                           {},
                           static_cast<double>(time.value)});
    }
  }
}

void add_breakdown(std::vector<WhyPart>& parts, const CostBreakdown& cost, std::size_t depth) {
  for (const CostBreakdown& part : cost.parts) {
    const std::string value = to_string(Nanoseconds{std::llround(part.nanoseconds)});
    parts.push_back({std::string(2 * depth, ' ') + part.term,
                     part.formula.empty() ? value : fmt::format("{} = {}", value, part.formula)});
    if (depth + 1 < k_deepest) add_breakdown(parts, part, depth + 1);
  }
}

}  // namespace

Why why_time(const LoadedRun& run, InstructionId id) {
  const StepPlan& plan = run.plan();
  Why why;
  why.title = fmt::format("{} in {}", label_of(run, id), title_of(run));
  why.formula = "from start to end; the median over steps and ranks";
  why.source = source_of(run);
  if (is_collective(plan.instruction(id).kind))
    why.formula += "; it includes waiting for the last rank to arrive";
  const auto figures = instruction_figures(run);
  if (!figures[id.index()]) {
    why.value = "did not run";
    return why;
  }
  const InstructionFigures& own = *figures[id.index()];
  why.value = to_string(own.median);
  add_spans(why, run, id, own);
  if (own.arrival.value > 0) why.parts.push_back({"ranks start it apart by", to_string(own.arrival)});
  const StepTrace* step = typical_step(run);
  const RankTrace* rank = step == nullptr ? nullptr : rank_of(*step, 0);
  if (rank != nullptr) add_waits(why, run, *rank, id);
  return why;
}

Result<Why> why_cost(const PlannedScenario& planned, const Calibration* calibration, InstructionId id) {
  SHARDLAB_TRY(const Device device, resolve_device(planned.scenario));
  const StepPlan& plan = planned.plan.steady;
  CostModel model(planned, device, calibration);
  const CostBreakdown cost = model.explain(plan, plan.instruction(id));
  Why why;
  why.title = "cost of " + label_of(plan, PlanWords(plan), id);
  why.value = to_string(Nanoseconds{std::llround(cost.nanoseconds)});
  why.formula = cost.formula.empty() ? cost.term : fmt::format("{}: {}", cost.term, cost.formula);
  add_breakdown(why.parts, cost, 0);
  why.source = calibration != nullptr ? fmt::format("coefficients of calibration {}", calibration->id)
                                      : fmt::format("coefficients of {}", device.source);
  return why;
}

}  // namespace shardlab::view
