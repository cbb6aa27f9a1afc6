// What a buffer of a plan can be: its class, space, layout and role, with their words.
#pragma once

#include <cstdint>
#include <string_view>

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
template <>
inline constexpr auto k_words<BufferClass> =
    std::to_array<Word<BufferClass>>({{BufferClass::parameter, "parameter"},
                                      {BufferClass::parameter_shard, "parameter_shard"},
                                      {BufferClass::gathered_parameters, "gathered_parameters"},
                                      {BufferClass::gather_buffer, "gather_buffer"},
                                      {BufferClass::gradient, "gradient"},
                                      {BufferClass::gradient_shard, "gradient_shard"},
                                      {BufferClass::reduce_buffer, "reduce_buffer"},
                                      {BufferClass::optimizer_state, "optimizer_state"},
                                      {BufferClass::activation, "activation"},
                                      {BufferClass::activation_gradient, "activation_gradient"},
                                      {BufferClass::batch, "batch"},
                                      {BufferClass::constant, "constant"},
                                      {BufferClass::scalar, "scalar"},
                                      {BufferClass::workspace, "workspace"}});
inline constexpr std::size_t k_buffer_classes = k_words<BufferClass>.size();

// managed: of cudaMallocManaged, which devices and processors touch and the driver moves between them.
enum class MemorySpace : std::uint8_t { device, pinned_host, pageable_host, disk, managed };
template <>
inline constexpr auto k_words<MemorySpace> =
    std::to_array<Word<MemorySpace>>({{MemorySpace::device, "device"},
                                      {MemorySpace::pinned_host, "pinned_host"},
                                      {MemorySpace::pageable_host, "pageable_host"},
                                      {MemorySpace::disk, "disk"},
                                      {MemorySpace::managed, "managed"}});
inline constexpr std::size_t k_memory_spaces = k_words<MemorySpace>.size();

// Where a device computes.
constexpr bool is_of_device(MemorySpace space) {
  return space == MemorySpace::device || space == MemorySpace::managed;
}

// Where a processor computes and a device's copies begin or end.
constexpr bool is_host(MemorySpace space) {
  return space == MemorySpace::pinned_host || space == MemorySpace::pageable_host;
}

// How parameters lie in a buffer. Copies between buffers (Pack, Unpack, Copy, Cast) go parameter by
// parameter, wherever the layouts put them; plan/layout.h has the offsets.
enum class BufferLayout : std::uint8_t {
  opaque,               // not made of parameters
  parameters,           // each parameter whole, one after the other
  separate_parameters,  // likewise, each in a storage of its own
  row_shards,  // this rank's rows of each parameter: ceil(rows / shards) rows, the last ranks' padded
  gathered_row_shards,  // the row_shards of all ranks, one rank after the other
  flat,                // the parameters one after the other, each aligned, padded to a multiple of the shards
  flat_shard,          // this rank's contiguous part of the flat vector
  trained_flat_shard,  // what trained parameters have in that part, without gaps; as long as that of the rank
                       // with most
  flat_range,          // elements of the parameters one after the other, from Buffer::first on
  element_shards,  // this rank's elements of each parameter: ceil(elements / shards), the last ranks' padded;
                   // or some of them, from Buffer::first on
  gathered_element_shards,  // the element_shards of all ranks, one rank after the other
};
template <>
inline constexpr auto k_words<BufferLayout> =
    std::to_array<Word<BufferLayout>>({{BufferLayout::opaque, "opaque"},
                                       {BufferLayout::parameters, "parameters"},
                                       {BufferLayout::separate_parameters, "separate_parameters"},
                                       {BufferLayout::row_shards, "row_shards"},
                                       {BufferLayout::gathered_row_shards, "gathered_row_shards"},
                                       {BufferLayout::flat, "flat"},
                                       {BufferLayout::flat_shard, "flat_shard"},
                                       {BufferLayout::trained_flat_shard, "trained_flat_shard"},
                                       {BufferLayout::flat_range, "flat_range"},
                                       {BufferLayout::element_shards, "element_shards"},
                                       {BufferLayout::gathered_element_shards, "gathered_element_shards"}});

constexpr bool holds_whole_parameters(BufferLayout layout) {
  return layout == BufferLayout::parameters || layout == BufferLayout::separate_parameters ||
         layout == BufferLayout::flat;
}

// What a buffer is for, where its class does not say it: whoever needs that buffer finds it by this. Its word
// is the first part of the buffer's name.
enum class BufferRole : std::uint8_t {
  other,
  found_inf,      // not zero where a gradient is not finite; what guarded instructions read
  norms,          // of gradients, squared: one, or one a trained parameter
  gradient_sums,  // of micro-batches so far, in host memory
  staging,        // a pool of page-locked memory, in which lies what comes from a drive or goes there
  bucket,         // of all-reduced gradients
  first_bucket,   // the one bucket before buckets are rebuilt
  momentum,
  exp_avg,
  exp_avg_sq,
};
template <>
inline constexpr auto k_words<BufferRole> =
    std::to_array<Word<BufferRole>>({{BufferRole::found_inf, "found_inf"},
                                     {BufferRole::norms, "norms"},
                                     {BufferRole::gradient_sums, "gradient_sums"},
                                     {BufferRole::staging, "staging"},
                                     {BufferRole::bucket, "bucket"},
                                     {BufferRole::first_bucket, "firstbucket"},
                                     {BufferRole::momentum, "momentum"},
                                     {BufferRole::exp_avg, "exp_avg"},
                                     {BufferRole::exp_avg_sq, "exp_avg_sq"}});
// The text form of a plan says a role by the first part of the name alone.
constexpr BufferRole role_of_name(std::string_view name) {
  return parse_word<BufferRole>(name.substr(0, name.find('.'))).value_or(BufferRole::other);
}

}  // namespace shardlab
