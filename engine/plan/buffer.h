// Buffers of a plan: named ranges of memory with a known size, dtype, class and owner stream.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "engine/base/words.h"

namespace shardlab {

// What the bytes are, for "where does my memory go".
enum class BufferClass : std::uint8_t {
  parameter,  // not sharded
  parameter_shard,
  gathered_parameters,  // per-parameter tensors that compute reads
  gather_buffer,        // input and output of an all-gather
  gradient,
  gradient_shard,
  reduce_buffer,  // input of a reduce-scatter, bucket of an all-reduce
  optimizer_state,
  activation,  // border tensors and what forward keeps for backward
  activation_gradient,
  batch,
  constant,   // buffers of the model (rotary tables)
  scalar,     // loss, norms, step counters
  workspace,  // inside an instruction only
};
inline constexpr std::size_t k_buffer_classes = 14;

enum class MemorySpace : std::uint8_t { device, pinned_host, pageable_host, disk };

// How parameters lie in a buffer. Copies between buffers (Pack, Unpack, Copy, Cast) go parameter by
// parameter, wherever the layouts put them; plan/layout.h has the offsets.
enum class BufferLayout : std::uint8_t {
  opaque,      // not made of parameters
  parameters,  // each parameter whole, one after the other
  row_shards,  // this rank's rows of each parameter: ceil(rows / shards) rows, the last ranks' padded
  gathered_row_shards,  // the row_shards of all ranks, one rank after the other
  flat,                // the parameters one after the other, each aligned, padded to a multiple of the shards
  flat_shard,          // this rank's contiguous part of the flat vector
  trained_flat_shard,  // what trained parameters have in that part, without gaps; as long as that of the rank
                       // with most
};

// What a buffer is for, where its class does not say it: whoever needs that buffer finds it by this. Its word
// is the first part of the buffer's name.
enum class BufferRole : std::uint8_t {
  other,
  found_inf,     // not zero where a gradient is not finite; what guarded instructions read
  norms,         // of gradients, squared: one, or one a trained parameter
  bucket,        // of all-reduced gradients
  first_bucket,  // the one bucket before buckets are rebuilt
  momentum,
  exp_avg,
  exp_avg_sq,
};
template <>
inline constexpr auto k_words<BufferRole> =
    std::to_array<Word<BufferRole>>({{BufferRole::found_inf, "found_inf"},
                                     {BufferRole::norms, "norms"},
                                     {BufferRole::bucket, "bucket"},
                                     {BufferRole::first_bucket, "firstbucket"},
                                     {BufferRole::momentum, "momentum"},
                                     {BufferRole::exp_avg, "exp_avg"},
                                     {BufferRole::exp_avg_sq, "exp_avg_sq"}});

struct Buffer {
  std::string name;  // unique in the plan: "shard.u3", "full.u3", "saved.s4.mb0"
  BufferRole role = BufferRole::other;
  BufferClass buffer_class = BufferClass::workspace;
  DType dtype = DType::float32;
  std::int64_t elements = 0;  // of dtype; a bundle of mixed dtypes counts bytes (dtype uint8)
  MemorySpace space = MemorySpace::device;
  StreamId stream;  // that allocates and frees it
  BufferLayout layout = BufferLayout::opaque;
  std::vector<ParameterId> parameters;  // in order, when the layout is not opaque
  int shards = 1;                       // ranks that a sharded or padded layout spreads over
  int alignment = 1;  // flat layouts: elements to which a parameter's begin is rounded up; others: rows of
                      // dimension 0 to a multiple of which every parameter is padded
  std::optional<UnitId> unit;         // whose parameters, gradients or states these are
  std::optional<TensorId> tensor;     // whose value (or, in class activation_gradient, gradient) this is
  std::optional<SegmentId> saved_by;  // the bundle that this segment's forward keeps for its backward
  std::optional<int> micro_batch;     // of tensor and saved_by; constants have none
  bool carried = false;               // alive when the step begins
  bool kept = false;                  // alive when it ends

  Bytes bytes() const { return bytes_of(elements, dtype); }
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// As the text form of a plan says it: by the first part of the name.
BufferRole role_of_name(std::string_view name);

std::string_view to_string(BufferClass buffer_class);
std::optional<BufferClass> parse_buffer_class(std::string_view name);
std::string_view to_string(BufferLayout layout);
std::optional<BufferLayout> parse_buffer_layout(std::string_view name);
std::string_view to_string(MemorySpace space);
std::optional<MemorySpace> parse_memory_space(std::string_view name);

}  // namespace shardlab
