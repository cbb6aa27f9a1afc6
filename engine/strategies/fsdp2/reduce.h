// The reduce-scatter side of FSDP2: foreach_reduce and accumulation. Private to this folder.
#pragma once

#include <optional>
#include <vector>

#include "engine/strategies/fsdp2/unit_state.h"

namespace shardlab::fsdp2 {

class Reduce {
 public:
  Reduce(StepBuilder& builder, const Streams& streams, GroupId group, const Precision& precision, std::vector<UnitState>& units)
      : b_(builder), streams_(streams), group_(group), precision_(precision), units_(units) {}

  // Reduces the gradients of a unit into its sharded gradient, adding to it when one is there already.
  void reduce(UnitId unit, const std::vector<BufferId>& gradients);

  // Without synchronisation and with a reduction dtype of its own: gradients are kept unsharded in that dtype.
  void accumulate_unsharded(UnitId unit, const std::vector<BufferId>& gradients);
  bool has_unsharded(UnitId unit) const;
  std::vector<BufferId> take_unsharded(UnitId unit);

  // Final callback: compute waits for every reduce-scatter, the last input is dropped.
  void finish();

 private:
  InstructionId pack(UnitState& state, UnitId unit, const std::vector<BufferId>& gradients);
  void scatter(UnitState& state, UnitId unit, InstructionId packed);
  void drop_previous_input();
  void convert(UnitState& state, UnitId unit, bool accumulate);
  BufferId unsharded_buffer(UnitId unit, BufferId gradient);

  StepBuilder& b_;
  Streams streams_;
  GroupId group_;
  Precision precision_;
  std::vector<UnitState>& units_;
  UnitState* previous_ = nullptr;  // its reduce-scatter input is alive
  std::optional<InstructionId> last_reduction_;  // last instruction on the reduce-scatter stream that gradients depend on
  struct Unsharded {
    BufferId gradient, accumulated;
  };
  std::vector<std::vector<Unsharded>> unsharded_;  // by UnitId
};

}  // namespace shardlab::fsdp2
