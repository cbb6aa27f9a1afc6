// Emits what segments run: Forward, Recompute and Backward with the buffers they touch.
#pragma once

#include <vector>

#include "engine/strategies/region_offload.h"
#include "engine/strategies/step_strategies.h"

namespace shardlab {

class SegmentEmitter {
 public:
  // `offloads`: what checkpoints hold waits in host memory (region_offload.h).
  SegmentEmitter(StepBuilder& builder, StepStrategies& strategies, bool offloads)
      : b_(builder),
        strategies_(strategies),
        graph_(builder.graph()),
        partition_(builder.partition()),
        offload_(builder, offloads) {}

  void begin_micro_batch(int micro_batch) { micro_batch_ = micro_batch; }

  void forward(SegmentId id);
  // Nothing where nothing of the segment is needed again.
  void recompute(SegmentId id);
  void backward(SegmentId id);
  // End of a region's backward: what a reentrant checkpoint has returned again goes.
  void drop_recomputed_outputs(const Region& region);

 private:
  Instruction make(InstructionKind kind, SegmentId id) const;
  void emit(Instruction instruction);
  void offload(SegmentId id);
  // What a recomputation or a backward reads.
  BufferId value_buffer(const Segment& reader, TensorId tensor);
  void hold_region_inputs(SegmentId id, Instruction& backward);
  std::vector<BufferId> parameter_buffers(const Segment& segment) const;
  void write_parameter_gradients(const Segment& segment, Instruction& instruction);
  void write(BufferId buffer, Instruction& instruction) const;

  StepBuilder& b_;
  StepStrategies& strategies_;
  const ModelGraph& graph_;
  const Partition& partition_;
  RegionOffload offload_;
  int micro_batch_ = 0;
};

}  // namespace shardlab
