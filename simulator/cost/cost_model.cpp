#include "simulator/cost/cost_model.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/model/segment/program.h"
#include "engine/plan/segment_run.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"
#include "simulator/cost/gpu_kernels.h"

namespace shardlab {
namespace {

Direction direction_of(InstructionKind kind) {
  return kind == InstructionKind::Backward ? Direction::backward : Direction::forward;
}

// Forward, backward, recomputation.
std::size_t program_index(InstructionKind kind) {
  if (kind == InstructionKind::Recompute) return 2;
  return kind == InstructionKind::Backward ? 1 : 0;
}

Nanoseconds whole(double nanoseconds) {
  return {saturated_round(nanoseconds)};
}

}  // namespace

CostModel::CostModel(const PlannedScenario& planned, const Device& device, const Calibration* calibration)
    : planned_(planned),
      device_(device),
      coefficients_(prediction_coefficients(planned.scenario, device, calibration)),
      groups_(planned, device, coefficients_) {
  for (auto& costs : costs_) costs.resize(planned.partition.segments.size());
}

InstructionCost CostModel::cost(const StepPlan& plan, const Instruction& instruction) {
  InstructionCost cost;
  if (is_host_only(instruction.kind)) {  // on a CPU the executor's own bookkeeping counts; on a GPU it hides
                                         // behind the device
    if (device_.kind == DeviceKind::cpu) cost.issue = whole(coefficients_.host.instruction_ns);
    return cost;
  }
  if (const auto transfer = drive_transfer(plan, instruction)) {
    cost.duration = whole(drive_ns(*transfer, coefficients_.drive));
    cost.shares = shares_of_drive();
    cost.launch = cost.issue = whole(coefficients_.host.instruction_ns);
    return cost;
  }
  if (is_host_work(plan, instruction)) return host_cost(plan, instruction);
  const HostTime host = host_time(instruction.kind, kernels_of(plan, instruction), coefficients_.host);
  if (is_collective(instruction.kind)) {
    const CollectiveCost collective = collective_cost(plan, instruction);
    cost.duration = whole(collective.nanoseconds);
    cost.shares = collective.shares;
  } else {
    cost.duration = whole(device_ns(plan, instruction));
    cost.shares = shares(plan, instruction);
  }
  cost.launch = whole(host.first_kernel_ns);
  cost.issue = whole(host.total_ns);
  // The driver stages pageable memory while the host waits.
  const auto copy = host_copy(plan, instruction);
  if (copy && (copy->way.from == MemorySpace::pageable_host || copy->way.to == MemorySpace::pageable_host))
    cost.issue = std::max(cost.issue, cost.duration);
  return cost;
}

// It begins where the host is and holds it to its end.
InstructionCost CostModel::host_cost(const StepPlan& plan, const Instruction& instruction) {
  InstructionCost cost;
  cost.duration = cost.issue = whole(device_ns(plan, instruction));
  return cost;
}

bool CostModel::is_host_work(const StepPlan& plan, const Instruction& instruction) const {
  return device_.kind == DeviceKind::gpu && !is_collective(instruction.kind) &&
         runs_on_host(plan, instruction);
}

std::optional<DriveTransfer> CostModel::drive_transfer(const StepPlan& plan,
                                                       const Instruction& instruction) const {
  if (!uses_drive(plan, instruction)) return std::nullopt;
  return DriveTransfer{*transfer_of(plan, instruction), instruction.bytes};
}

// A tensor each: FSDP2's parameters, FSDP1's and DeepSpeed's flat ones.
std::optional<HostCopy> CostModel::host_copy(const StepPlan& plan, const Instruction& instruction) const {
  if (device_.kind != DeviceKind::gpu || uses_drive(plan, instruction)) return std::nullopt;
  const auto way = transfer_of(plan, instruction);
  if (!way) return std::nullopt;
  const Buffer& moved = plan.buffer(instruction.writes.front());
  const bool by_parameter = moved.layout == BufferLayout::row_shards;
  return HostCopy{*way, instruction.bytes,
                  by_parameter ? std::max<std::int64_t>(std::ssize(moved.parameters), 1) : 1};
}

double CostModel::device_ns(const StepPlan& plan, const Instruction& instruction) {
  if (runs_segment(instruction.kind)) return segment_cost(instruction).nanoseconds;
  if (is_collective(instruction.kind)) {
    return collective_cost(plan, instruction).nanoseconds;
  }
  if (const auto transfer = drive_transfer(plan, instruction))
    return drive_ns(*transfer, coefficients_.drive);
  if (const auto copy = host_copy(plan, instruction)) return host_link_ns(*copy, coefficients_.host_link);
  const auto moved = traffic(plan, instruction);
  if (moved && is_host_work(plan, instruction))
    return host_work_ns(moved->traffic.bytes, goes_once(instruction), coefficients_.host_work);
  return moved ? traffic_ns(moved->traffic, coefficients_.traffic_of(moved->name)) : 0;
}

std::optional<InstructionTraffic> CostModel::traffic(const StepPlan& plan,
                                                     const Instruction& instruction) const {
  auto moved = traffic_of_instruction(planned_.graph, plan, instruction, *planned_.scenario.train);
  if (moved && !coefficients_.counts_pieces) moved->traffic.pieces = launches_of(plan, instruction);
  return moved;
}

// Whether processors read and write each byte once; else kernel after kernel.
bool CostModel::goes_once(const Instruction& instruction) const {
  return instruction.kind != InstructionKind::OptimizerStep ||
         planned_.scenario.train->optimizer_implementation == OptimizerImplementation::fused;
}

std::int64_t CostModel::kernels_of(const StepPlan& plan, const Instruction& instruction) {
  if (const auto copy = host_copy(plan, instruction)) return copy->copies;
  if (runs_segment(instruction.kind)) return segment_cost(instruction).kernels;
  return coefficients_.counts_pieces ? 1 : launches_of(plan, instruction);
}

std::int64_t CostModel::launches_of(const StepPlan& plan, const Instruction& instruction) const {
  return gpu_kernels(planned_.graph, plan, instruction, *planned_.scenario.train,
                     facts_of(planned_.scenario).copies_each_gradient);
}

std::vector<OperatorTime> CostModel::operator_times(const StepPlan& plan) const {
  struct Sum {
    std::int64_t calls = 0;
    double nanoseconds = 0;
  };
  std::map<std::pair<std::string_view, bool>, Sum> sums;
  for (const Instruction& instruction : plan.instructions) {
    if (!runs_segment(instruction.kind)) continue;
    const Direction direction = direction_of(instruction.kind);
    const Program& program = program_of(instruction);
    const std::vector<StepCost> costs = program_costs(planned_.graph, program, direction, coefficients_);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      Sum& sum = sums[{step_operation(planned_.graph, program.steps[i]), direction == Direction::backward}];
      ++sum.calls;
      sum.nanoseconds += costs[i].nanoseconds;
    }
  }
  std::vector<OperatorTime> times;
  for (const auto& [key, sum] : sums)
    times.push_back({std::string(key.first), key.second, sum.calls, whole(sum.nanoseconds)});
  return times;
}

const Program& CostModel::program_of(const Instruction& instruction) const {
  return segment_run(planned_.partition.segment(*instruction.segment).programs, instruction.kind).program;
}

const CostModel::SegmentCost& CostModel::segment_cost(const Instruction& instruction) {
  const std::size_t index = program_index(instruction.kind);
  std::optional<SegmentCost>& known = costs_[index][instruction.segment->index()];
  if (known) return *known;
  const Program& program = program_of(instruction);
  for (const SegmentCost& other : distinct_[index]) {
    if (same_work(planned_.graph, *other.program, program)) return known.emplace(other);
  }
  SegmentCost cost;
  cost.program = &program;
  for (const StepCost& step :
       program_costs(planned_.graph, program, direction_of(instruction.kind), coefficients_)) {
    cost.nanoseconds += step.nanoseconds;
    cost.kernels += step.kernels;
  }
  distinct_[index].push_back(cost);
  return known.emplace(cost);
}

CollectiveCost CostModel::collective_cost(const StepPlan& plan, const Instruction& instruction) {
  return groups_.cost(plan.groups[instruction.group->index()], instruction.kind, instruction.bytes);
}

ResourceShares CostModel::shares(const StepPlan& plan, const Instruction& instruction) {
  if (is_collective(instruction.kind)) return collective_cost(plan, instruction).shares;
  if (const auto copy = host_copy(plan, instruction)) return shares_of_copy(*copy, coefficients_.host_link);
  return shares_of_compute(device_.kind, traffic(plan, instruction).has_value());
}

CostBreakdown CostModel::explain(const StepPlan& plan, const Instruction& instruction) {
  if (const auto transfer = drive_transfer(plan, instruction))
    return explain_drive(*transfer, coefficients_.drive);
  CostBreakdown device;
  if (runs_segment(instruction.kind)) {
    device = explain_program(planned_.graph, program_of(instruction), direction_of(instruction.kind),
                             coefficients_);
  } else if (is_collective(instruction.kind)) {
    device = groups_.explain(plan.groups[instruction.group->index()], instruction.kind, instruction.bytes);
  } else if (const auto copy = host_copy(plan, instruction)) {
    device = explain_host_link(*copy, coefficients_.host_link);
  } else if (const auto moved = traffic(plan, instruction)) {
    if (is_host_work(plan, instruction))
      return explain_host_work(moved->traffic.bytes, goes_once(instruction), coefficients_.host_work);
    device = explain_traffic(std::string(moved->name), moved->traffic, coefficients_.traffic_of(moved->name));
  } else {
    device = {device_ns(plan, instruction), std::string(to_string(instruction.kind)), "no traffic", {}};
  }
  if (is_host_only(instruction.kind)) return device;
  CostBreakdown whole{
      device.nanoseconds, std::string(to_string(instruction.kind)), "alone on the device", {}};
  whole.parts = {std::move(device),
                 explain_host_time(instruction.kind, kernels_of(plan, instruction), coefficients_.host),
                 explain_contention(coefficients_.contention, shares(plan, instruction))};
  return whole;
}

}  // namespace shardlab
