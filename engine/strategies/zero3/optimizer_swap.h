// The optimizer's state of ZeRO-3 on a drive: brought in sub-group by sub-group, updated, written back.
//
// Source: DeepSpeed 0.19.8, runtime/swap_tensor/partitioned_optimizer_swapper.py and
// pipelined_optimizer_swapper.py, with stage3.py (_prepare_sub_group, _release_sub_group). Master, states and
// gradient of a sub-group come into a staging buffer each, and the host waits; all but the gradient go back
// after the update. With pipeline_read the next sub-group is read meanwhile, with pipeline_write it is begun
// before the last is written. States exist from the first update on.
#pragma once

#include <optional>
#include <vector>

#include "engine/scenario/scenario.h"
#include "engine/strategies/strategy.h"
#include "engine/strategies/zero3/leaving_gradients.h"

namespace shardlab {

class OptimizerSwap {
 public:
  // Declares the pool and the files. `groups` must outlive this.
  OptimizerSwap(StepBuilder& builder, const SubGroups& groups, UnitId root, const Scenario& scenario,
                const HostState& host);

  // Whether the sub-group is large enough; else its state lies in host memory.
  bool swaps(std::size_t group) const { return rules_.is_swapped(elements_of_group(groups_, group)); }
  LeavingGradients& gradients() { return gradients_; }

  // In the setup: cuts the masters of all swapped sub-groups from their shards, and writes them.
  void write_masters(const std::vector<std::vector<BufferId>>& shards);
  // Before and after the update of a swapped sub-group, which is the next one in order.
  void swap_in(std::size_t group);
  void swap_out(std::size_t group);

  // The sub-group as it lies: on the drive, or in staging buffers.
  TrainedUnit unit(std::size_t group) const;

 private:
  struct Files {
    BufferId master;
    std::vector<BufferId> states;
  };
  struct Staged {
    std::size_t group = 0;
    std::vector<std::size_t> slots;
    BufferId master;
    std::vector<BufferId> states, gradients;  // the second parameter by parameter, in one slot
    std::optional<InstructionId> last;        // read, or written
  };
  std::optional<Files> declare_files(std::size_t group);
  BufferId file(std::size_t group, std::string name, BufferClass buffer_class, bool is_there);
  BufferId staged_part(std::size_t group, std::string_view name, BufferClass buffer_class, std::size_t slot);
  Staged read(std::size_t group);
  void read_gradients(Staged& staged);
  BufferId staged_gradient(const Staged& staged, const PlacedGradient& gradient);
  void write(Staged& staged, bool waits_between = false);
  void finish_write(Staged staged);
  std::optional<std::size_t> next_after(std::size_t group) const;

  StepBuilder& b_;
  const SubGroups& groups_;
  const UnitId root_;
  const SwapRules rules_;
  const HostState host_;
  const std::vector<BufferRole> roles_;  // of the states
  const StreamId in_, out_;
  StagingPool pool_;
  LeavingGradients gradients_;
  std::vector<std::optional<Files>> files_;     // by sub-group; none where it is not swapped
  std::optional<Staged> now_, ahead_, behind_;  // updated, being read, being written
};

}  // namespace shardlab
