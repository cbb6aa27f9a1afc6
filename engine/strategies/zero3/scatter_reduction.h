// The reduction of gradients under ZeRO-3: through one bucket, by a reduce-scatter of every parameter's part.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage3.py (__add_grad_to_ipg_bucket,
// __reduce_and_partition_ipg_grads) and runtime/comm/coalesced_collectives.py (reduce_scatter_coalesced): the
// bucket's memory lives as long as the run; its gradients are copied together, rank by rank, in the order of
// definition, unless it is one that all ranks divide. The host waits when more than two reductions are not
// done. With offload_optimizer the parts lie in host memory (partition_grads): each comes back to the device,
// where it is added to and becomes float32, and goes to the host again. With zero_quantized_gradients over
// several nodes each gradient is reduced for itself, in four bits (quantized_reduction.h).
#pragma once

#include <deque>
#include <optional>
#include <span>

#include "engine/scenario/zero_options.h"
#include "engine/strategies/host_state.h"
#include "engine/strategies/zero/bucketed_gradients.h"
#include "engine/strategies/zero3/optimizer_swap.h"
#include "engine/strategies/zero3/quantized_reduction.h"
#include "engine/strategies/zero3/sub_groups.h"

namespace shardlab {

class ScatterReduction : public BucketedGradients {
 public:
  // Declares the bucket's memory and this rank's part of the gradients, which live across steps. `order`: in
  // which gradients come. `groups` must outlive this. `swap`: where gradients go on to a drive; may be null.
  // `exchange`: what reduces in four bits; may be null, else nothing lies on the host.
  ScatterReduction(StepBuilder& builder, const ZeroOptions& options, UnitId root, StreamId stream,
                   GroupId group, const SubGroups& groups, const std::vector<ParameterId>& order, int ranks,
                   std::optional<HostState> host, int accumulation, OptimizerSwap* swap,
                   QuantizedReduction* exchange);

  void begin(int micro_batch) { micro_batch_ = micro_batch; }
  // The stream of reductions, which copies, waits for what made them.
  void take(BufferId gradients, std::span<const ParameterId> parameters);
  // Reduces what is left; the host waits for it.
  void close();

  // This rank's part of the gradients of a sub-group, parameter by parameter; where the optimizer works on
  // the host, it lies there and is in float32. Of a sub-group on a drive nothing.
  BufferId part(std::size_t group) const {
    return host_ ? updates_[group].value_or(BufferId{}) : parts_[group];
  }

 private:
  void reduce(std::size_t index, BufferId source) override;
  void release(BufferId gradients) override;
  Memory& memory() override { return slot_; }

  void limit();
  void scatter(BufferId gradients, std::size_t index);
  void exchange(BufferId gradients, std::size_t index);
  std::vector<ParameterId> in_order(std::size_t index) const;
  BufferId copy_together(BufferId source, std::size_t index);
  void take_part(const std::vector<BufferId>& reduced, std::size_t index);
  BufferId in_dtype_of_sums(BufferId reduced, std::size_t index, bool scattered);
  void keep_on_host(BufferId reduced, std::size_t index);
  void pass_through_device(ParameterId parameter, BufferId reduced);
  bool send(BufferId returned, const Buffer& like);
  bool swaps(std::size_t group) const { return swap_ != nullptr && swap_->swaps(group); }
  std::vector<BufferId> parts_with(std::size_t bucket) const;

  const ZeroOptions options_;
  const StreamId stream_;
  const GroupId group_;
  const int ranks_;
  const std::optional<HostState> host_;
  const int last_;  // micro-batch
  const SubGroups& groups_;
  BufferId memory_;
  OptimizerSwap* const swap_;
  QuantizedReduction* const exchange_;
  std::vector<BufferId> parts_;                   // by sub-group
  std::vector<std::optional<BufferId>> updates_;  // likewise, in float32 and on the host
  std::vector<PlacedGradient> leaving_;           // to a drive, of the reduction that is being emitted
  Memory slot_;
  std::deque<InstructionId> pending_;  // reductions whose end the host has not waited for
};

}  // namespace shardlab
