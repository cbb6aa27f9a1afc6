// What the collectives of a plan's groups take and share: of every group by how its own ranks lie.
//
// Ranks that a plan's group stands for may lie differently on the nodes, one replica's inside a node and
// another's across two; all of them are asked, and the slowest holds, because the others wait for it at the
// step's end at the latest.
//
// A calibration measured the group of all ranks. That group takes what it measured; one of another shape that
// uses the same wires takes what is predicted of it, times how far the measurement is from the prediction for
// all ranks at the same size. Where wires are supposed (engine/hardware/supposed.h) nobody can have measured
// them: all groups take what is predicted, corrected by how far the measurement is from the prediction for
// the wires as they are described.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "engine/plan/planned_scenario.h"
#include "simulator/cost/coefficients.h"
#include "simulator/cost/shared_resources.h"
#include "simulator/network/transfer_time.h"

namespace shardlab {

struct CollectiveCost {
  double nanoseconds = 0;
  ResourceShares shares;
  std::optional<TransferTime>
      transfer;               // on GPUs, of the shape that holds; none where it was measured itself
  GroupShape shape;           // the one that holds
  double measured_ratio = 1;  // what a calibration made of the prediction
};

// Keeps references; not thread-safe.
class GroupCosts {
 public:
  GroupCosts(const PlannedScenario& planned, const Device& device, const CostCoefficients& coefficients);

  CollectiveCost cost(const Group& group, InstructionKind kind, Bytes bytes);

  CostBreakdown explain(const Group& group, InstructionKind kind, Bytes bytes);

 private:
  struct Known {
    Group group;
    std::vector<GroupNetwork> networks;  // one for each shape, on GPUs; on a CPU one that is not asked
  };
  struct Predicted {
    double nanoseconds = 0;
    std::optional<TransferTime> transfer;
    GroupShape shape;
  };

  const Known& known(const Group& group);
  Predicted predicted(const std::vector<GroupNetwork>& networks, InstructionKind kind, Bytes bytes) const;
  // The terms that a calibration measured; null where none says anything of this kind, or of these wires.
  const CollectiveTerms* measured(const GroupShape& shape, InstructionKind kind) const;
  // Whether a calibration's time is that of this group itself.
  bool is_measured_group(const GroupShape& shape) const {
    return described_.empty() && shape == all_.front().shape();
  }

  const PlannedScenario& planned_;
  const Device& device_;
  const CostCoefficients& coefficients_;
  std::vector<GroupNetwork> all_;        // one, of the group of all ranks
  std::vector<GroupNetwork> described_;  // the same on the wires as they are, where others are supposed
  std::deque<Known> known_;
};

}  // namespace shardlab
