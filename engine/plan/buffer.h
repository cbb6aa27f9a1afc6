// Buffers of a plan: named ranges of memory with a known size, dtype, class and owner stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "engine/plan/buffer_words.h"

namespace shardlab {

// Where a buffer lies that has no memory of its own: in a pool, which is alive before and after it.
struct PlaceInPool {
  BufferId pool;           // declared earlier, of the same dtype and space
  std::int64_t first = 0;  // element of the pool with which the buffer begins
  friend bool operator==(const PlaceInPool&, const PlaceInPool&) = default;
};

struct Buffer {
  std::string name;  // unique in the plan: "shard.u3", "full.u3", "saved.s4.mb0"
  BufferRole role = BufferRole::other;
  BufferClass buffer_class = BufferClass::workspace;
  DType dtype = DType::float32;
  // They are of `dtype`. A bundle of mixed dtypes counts bytes (uint8), and so do numbers of which several
  // share one: the layout tells how many those are.
  std::int64_t elements = 0;
  MemorySpace space = MemorySpace::device;
  StreamId stream;  // that allocates and frees it
  BufferLayout layout = BufferLayout::opaque;
  std::vector<ParameterId> parameters;  // in order, when the layout is not opaque
  int shards = 1;                       // ranks that a sharded or padded layout spreads over
  int alignment = 1;  // flat layouts: elements to which a parameter's begin is rounded up; others: rows of
                      // dimension 0 to a multiple of which every parameter is padded
  // flat_range: the element of its parameters, one after the other, with which it begins. element_shards: of
  // this rank's elements the one with which it begins, where `elements` are not all of them.
  std::int64_t first = 0;
  int end_alignment = 1;           // flat layouts: each shard's elements are rounded up to a multiple of it
  std::optional<UnitId> unit;      // whose parameters, gradients or states these are
  std::optional<TensorId> tensor;  // whose value (or, in class activation_gradient, gradient) this is
  std::optional<SegmentId> saved_by;  // the bundle that this segment's forward keeps for its backward
  std::optional<int> micro_batch;     // of tensor and saved_by; constants have none
  std::optional<PlaceInPool> within;  // none: memory of its own
  bool carried = false;               // alive when the step begins
  bool kept = false;                  // alive when it ends

  Bytes bytes() const { return bytes_of(elements, dtype); }
  // What it adds to the memory in use while it is alive: nothing inside a pool.
  Bytes own_bytes() const { return within ? Bytes{} : bytes(); }
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

}  // namespace shardlab
