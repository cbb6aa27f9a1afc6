// What checkpointed regions are called with, in host memory until they are run again.
//
// Source: torch 2.11, autograd/graph.py (save_on_cpu with pin_memory, as checkpoint_wrapper.py's
// offload_wrapper puts around a checkpoint): packing copies a tensor to page-locked memory, and the host
// waits for that; unpacking copies it back on the stream that computes, which goes on behind it. The copy
// comes back once, for the recomputation. What selective checkpoints retain stays on the device.
//
// The memory on the host is given back with the copy; torch's lives until the region's backward is over.
#pragma once

#include "engine/strategies/step_builder.h"

namespace shardlab {

class RegionOffload {
 public:
  RegionOffload(StepBuilder& builder, bool is_on)
      : b_(builder), graph_(builder.graph()), partition_(builder.partition()), is_on_(is_on) {}

  // Before the forward of a segment; nothing where no region begins with it.
  void send(SegmentId segment, int micro_batch);
  // Whether a segment's recomputation and backward read the tensor from where it was sent.
  bool holds(const Segment& reader, TensorId tensor) const;
  // The copy on the device, made now unless it is there.
  BufferId bring_back(TensorId tensor, int micro_batch);

 private:
  StepBuilder& b_;
  const ModelGraph& graph_;
  const Partition& partition_;
  const bool is_on_;
};

}  // namespace shardlab
