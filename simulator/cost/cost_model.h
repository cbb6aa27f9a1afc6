// What every instruction of a scenario's plans costs on a device, alone.
//
// Costs of segments are computed once per distinct program (most layers are alike). Not thread-safe;
// references are kept.
#pragma once

#include <optional>
#include <vector>

#include "engine/plan/planned_scenario.h"
#include "engine/trace/operator_time.h"
#include "simulator/cost/coefficients.h"
#include "simulator/cost/group_costs.h"
#include "simulator/cost/instruction_traffic.h"
#include "simulator/cost/program_cost.h"
#include "simulator/cost/shared_resources.h"

namespace shardlab {

struct InstructionCost {
  Nanoseconds duration;  // on the device, or on the host of a CPU
  Nanoseconds launch;    // host time until the device may start
  Nanoseconds issue;     // host time for all of it
  ResourceShares shares;
};

class CostModel {
 public:
  // `calibration` may be null. The model keeps what it is given by reference.
  CostModel(const PlannedScenario& planned, const Device& device, const Calibration* calibration);
  CostModel(const PlannedScenario&, Device&&, const Calibration*) = delete;

  InstructionCost cost(const StepPlan& plan, const Instruction& instruction);

  // Why it takes that long: the term, its formula with numbers, and its parts.
  CostBreakdown explain(const StepPlan& plan, const Instruction& instruction);

  // The predicted times of the operators in all segments of the plan; by name, forward first.
  std::vector<OperatorTime> operator_times(const StepPlan& plan) const;

  // What an instruction moves; none for segments, collectives and what takes no time.
  std::optional<InstructionTraffic> traffic(const StepPlan& plan, const Instruction& instruction) const;

  // That it launches on a device.
  std::int64_t kernels_of(const StepPlan& plan, const Instruction& instruction);

  const CostCoefficients& coefficients() const { return coefficients_; }

 private:
  struct SegmentCost {
    double nanoseconds = 0;
    std::int64_t kernels = 0;
    const Program* program = nullptr;
  };

  std::optional<DriveTransfer> drive_transfer(const StepPlan& plan, const Instruction& instruction) const;
  // On a rank with a GPU: a copy to or from host memory, and whether the work is done by processors.
  std::optional<HostCopy> host_copy(const StepPlan& plan, const Instruction& instruction) const;
  bool is_host_work(const StepPlan& plan, const Instruction& instruction) const;
  bool goes_once(const Instruction& instruction) const;
  std::int64_t launches_of(const StepPlan& plan, const Instruction& instruction) const;
  InstructionCost host_cost(const StepPlan& plan, const Instruction& instruction);
  double device_ns(const StepPlan& plan, const Instruction& instruction);
  const SegmentCost& segment_cost(const Instruction& instruction);
  const Program& program_of(const Instruction& instruction) const;
  CollectiveCost collective_cost(const StepPlan& plan, const Instruction& instruction);
  ResourceShares shares(const StepPlan& plan, const Instruction& instruction);

  const PlannedScenario& planned_;
  const Device& device_;
  CostCoefficients coefficients_;
  std::vector<std::optional<SegmentCost>> costs_[3];  // forward, backward, recomputation; by segment
  std::vector<SegmentCost> distinct_[3];
  GroupCosts groups_;
};

}  // namespace shardlab
