#include "simulator/calibrate/run_measurements.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "simulator/cost/cost_model.h"

namespace shardlab {
namespace {

bool in_background(const StepPlan& plan, const Instruction& instruction) {
  return is_collective(instruction.kind) && instruction.group &&
         plan.groups[instruction.group->index()].size > 1;
}

// Calls visit(span, index of the next span or the number of spans) for each instruction of each rank and step
// that computed while no collective ran.
template <typename Visit>
void for_undisturbed(const StepPlan& plan, const RunTrace& run, Visit visit) {
  for (const StepTrace& step : run.steps) {
    for (const RankTrace& rank : step.ranks) {
      const auto disturbed = [&](const Span& span) {
        return std::any_of(rank.spans.begin(), rank.spans.end(), [&](const Span& other) {
          return in_background(plan, plan.instruction(other.instruction)) && other.start < span.end &&
                 span.start < other.end;
        });
      };
      for (std::size_t i = 0; i < rank.spans.size(); ++i) {
        const Span& span = rank.spans[i];
        if (!in_background(plan, plan.instruction(span.instruction)) && !disturbed(span)) visit(rank, i);
      }
    }
  }
}

class Collector {
 public:
  void add(std::string_view probe, ProbeShape shape, Nanoseconds sample) {
    samples_[{std::string(probe), std::move(shape)}].push_back(std::max<std::int64_t>(sample.value, 1));
  }
  std::vector<ProbeMeasurement> take() {
    std::vector<ProbeMeasurement> measurements;
    for (auto& [key, samples] : samples_) measurements.push_back({key.first, key.second, std::move(samples)});
    return measurements;
  }

 private:
  std::map<std::pair<std::string, ProbeShape>, std::vector<std::int64_t>> samples_;
};

// Calls visit(rank, i) for all instructions but the last of each step.
template <typename Visit>
void for_followed(const RunTrace& run, Visit visit) {
  for (const StepTrace& step : run.steps) {
    for (const RankTrace& rank : step.ranks) {
      for (std::size_t i = 0; i + 1 < rank.spans.size(); ++i) visit(rank, i);
    }
  }
}

// On a device the host only issues: from one issue to the next is what the first takes it. A segment's time
// is that of its kernels' launches.
void add_issue_times(const PlannedScenario& planned, const RunTrace& run, CostModel& costs,
                     Collector& collector) {
  for_followed(run, [&](const RankTrace& rank, std::size_t i) {
    const StepPlan& plan = planned.plan.steady;
    const Instruction& instruction = plan.instruction(rank.spans[i].instruction);
    if (is_host_only(instruction.kind)) return;
    const Nanoseconds taken = rank.spans[i + 1].issue - rank.spans[i].issue;
    if (runs_segment(instruction.kind)) {
      collector.add("host.launch", {},
                    taken / std::max<std::int64_t>(costs.kernels_of(plan, instruction), 1));
    } else {
      collector.add(is_collective(instruction.kind) ? "host.collective" : "host.instruction", {}, taken);
    }
  });
}

// The host's time from the end of an instruction (of a collective: from its issue) to the next issue.
void add_host_times(const StepPlan& plan, const RunTrace& run, Collector& collector) {
  for_followed(run, [&](const RankTrace& rank, std::size_t i) {
    const Span& span = rank.spans[i];
    const bool background = in_background(plan, plan.instruction(span.instruction));
    const Nanoseconds from = background ? span.issue : span.end;
    collector.add(background ? "host.collective" : "host.instruction", {}, rank.spans[i + 1].issue - from);
  });
}

}  // namespace

std::vector<ProbeMeasurement> measurements_of_run(const PlannedScenario& planned, const Device& device,
                                                  const RunTrace& run) {
  const StepPlan& plan = planned.plan.steady;
  CostModel costs(planned, device, nullptr);
  Collector collector;
  for_undisturbed(plan, run, [&](const RankTrace& rank, std::size_t i) {
    const Span& span = rank.spans[i];
    const auto traffic = costs.traffic(plan, plan.instruction(span.instruction));
    if (!traffic) return;
    collector.add(traffic->name,
                  {{"bytes", traffic->traffic.bytes.value}, {"pieces", traffic->traffic.pieces}},
                  span.end - span.start);
  });
  if (device.kind == DeviceKind::gpu) {
    add_issue_times(planned, run, costs, collector);
  } else {
    add_host_times(plan, run, collector);
  }
  return collector.take();
}

}  // namespace shardlab
