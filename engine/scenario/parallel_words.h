// The words of the `parallel` and `offload` sections of a scenario.
#pragma once

#include <cstdint>

#include "engine/base/words.h"

namespace shardlab {

// FSDP1's ShardingStrategy.
enum class Fsdp1Sharding : std::uint8_t {
  full_shard,
  shard_grad_op,
  no_shard,
  hybrid_shard,
  hybrid_shard_zero2
};
template <>
inline constexpr auto k_words<Fsdp1Sharding> =
    std::to_array<Word<Fsdp1Sharding>>({{Fsdp1Sharding::full_shard, "full_shard"},
                                        {Fsdp1Sharding::shard_grad_op, "shard_grad_op"},
                                        {Fsdp1Sharding::no_shard, "no_shard"},
                                        {Fsdp1Sharding::hybrid_shard, "hybrid_shard"},
                                        {Fsdp1Sharding::hybrid_shard_zero2, "hybrid_shard_zero2"}});

// Shards inside a group and replicates among groups.
constexpr bool is_hybrid(Fsdp1Sharding sharding) {
  return sharding == Fsdp1Sharding::hybrid_shard || sharding == Fsdp1Sharding::hybrid_shard_zero2;
}

// Frees gathered parameters after forward.
constexpr bool reshards_after_forward(Fsdp1Sharding sharding) {
  return sharding == Fsdp1Sharding::full_shard || sharding == Fsdp1Sharding::hybrid_shard;
}

// FSDP1's option of that name: when the next unit's gather is issued in backward.
enum class BackwardPrefetch : std::uint8_t { pre, post, none };
template <>
inline constexpr auto k_words<BackwardPrefetch> = std::to_array<Word<BackwardPrefetch>>(
    {{BackwardPrefetch::pre, "pre"}, {BackwardPrefetch::post, "post"}, {BackwardPrefetch::none, "none"}});

// Where parameters are made before they are sharded.
enum class Initialization : std::uint8_t { meta, cpu, rank0_broadcast };
template <>
inline constexpr auto k_words<Initialization> =
    std::to_array<Word<Initialization>>({{Initialization::meta, "meta"},
                                         {Initialization::cpu, "cpu"},
                                         {Initialization::rank0_broadcast, "rank0_broadcast"}});

// Where something is kept instead of the device.
enum class OffloadTarget : std::uint8_t { none, cpu, nvme };
template <>
inline constexpr auto k_words<OffloadTarget> = std::to_array<Word<OffloadTarget>>(
    {{OffloadTarget::none, "none"}, {OffloadTarget::cpu, "cpu"}, {OffloadTarget::nvme, "nvme"}});

}  // namespace shardlab
