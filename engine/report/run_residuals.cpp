#include "engine/report/run_residuals.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "engine/report/words/plan_words.h"
#include "engine/trace/step_time.h"

namespace shardlab {
namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Layers are alike; what is gathered or copied is by its size.
std::string part_name(const StepPlan& plan, const PlanWords& words, InstructionId id) {
  const Instruction& self = plan.instructions[id.index()];
  if (runs_segment(self.kind) && self.segment) {
    ModelPlace place = words.segment(*self.segment);
    const bool in_layer = place.layer.has_value();
    place.layer.reset();
    const std::string rest = place.rest.empty() ? "" : " " + place.rest;
    return fmt::format("{} of {}", to_string(self.kind),
                       in_layer ? "a layer" + rest : to_words(words.segment(*self.segment)));
  }
  std::string name(to_string(self.kind));
  if (self.bytes.value > 0) name += ", " + to_string(self.bytes);
  return self.group ? fmt::format("{}, {} ranks", name, plan.groups[self.group->index()].size) : name;
}

// 0 where nothing was measured.
double relative_error(Nanoseconds predicted, Nanoseconds measured) {
  if (measured.value <= 0) return 0;
  return static_cast<double>(predicted.value) / static_cast<double>(measured.value) - 1;
}

template <typename Sum>
void count(Sum& sum, Nanoseconds predicted, Nanoseconds measured, std::int64_t times) {
  sum.count += times;
  sum.predicted += predicted;
  sum.measured += measured;
  if (measured.value > 0) sum.errors.push_back(std::abs(relative_error(predicted, measured)));
}

}  // namespace

double ResidualPair::error() const {
  return relative_error(predicted_step, measured_step);
}

double ResidualRow::bias() const {
  return relative_error(predicted, measured);
}

void ResidualCollector::add(const std::string& name, const StepPlan& steady, const ResidualRun& predicted,
                            const ResidualRun& measured) {
  pairs_.push_back({predicted.id, measured.id, name, predicted.summary.calibrated,
                    predicted.summary.step_time.median, measured.summary.step_time.median});
  add_instructions(steady, predicted.trace, measured.trace);
  add_operators(predicted.summary, measured.summary);
}

void ResidualCollector::add_instructions(const StepPlan& plan, const RunTrace& predicted,
                                         const RunTrace& measured) {
  const PlanWords words(plan);
  const auto ours = median_durations(plan, predicted.steps);
  const auto theirs = median_durations(plan, measured.steps);
  Sums kinds, parts;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    // What keeps only the host, or nothing, has no time of its own to be wrong about.
    if (!ours[i] || !theirs[i] || is_host_only(plan.instructions[i].kind)) continue;
    count(kinds[std::string(to_string(plan.instructions[i].kind))], *ours[i], *theirs[i], 1);
    count(parts[part_name(plan, words, make_id<InstructionId>(i))], *ours[i], *theirs[i], 1);
  }
  add(kinds_, kinds);
  add(parts_, parts);
}

void ResidualCollector::add_operators(const RunSummary& predicted, const RunSummary& measured) {
  Sums sums;
  for (const OperatorTime& theirs : measured.operators) {
    for (const OperatorTime& ours : predicted.operators) {
      if (ours.operation != theirs.operation || ours.backward != theirs.backward) continue;
      count(sums[theirs.operation + (theirs.backward ? ", backward" : "")], ours.time, theirs.time,
            theirs.calls);
    }
  }
  add(operators_, sums);
}

void ResidualCollector::add(Sums& into, const Sums& of_one_pair) {
  for (const auto& [name, one] : of_one_pair) {
    Sum& sum = into[name];
    ++sum.runs;
    sum.count += one.count;
    sum.predicted += one.predicted;
    sum.measured += one.measured;
    sum.errors.insert(sum.errors.end(), one.errors.begin(), one.errors.end());
  }
}

std::vector<ResidualRow> ResidualCollector::rows_of(const Sums& sums) {
  const auto residual = [](const auto& row) {
    return static_cast<double>(std::abs((row.predicted - row.measured).value));
  };
  double all = 0;
  for (const auto& [name, sum] : sums) all += residual(sum);
  std::vector<ResidualRow> rows;
  for (const auto& [name, sum] : sums) {
    if (sum.predicted.value == 0 && sum.measured.value == 0) continue;
    ResidualRow row{name, sum.runs, sum.count, sum.predicted, sum.measured, median_of(sum.errors), 0};
    row.share = all > 0 ? residual(row) / all : 0;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ResidualRow& a, const ResidualRow& b) { return a.share > b.share; });
  return rows;
}

Residuals ResidualCollector::residuals() const {
  return {pairs_, rows_of(kinds_), rows_of(parts_), rows_of(operators_)};
}

}  // namespace shardlab
