// What `parallel.zero` says, as values: keys of DeepSpeed's zero_optimization section with its defaults.
//
// Source: DeepSpeed 0.19.8, deepspeed/runtime/zero/config.py.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/dtype.h"
#include "engine/model/wrap/leaf_spec.h"

namespace shardlab {

struct Scenario;

struct ZeroOptions {
  std::int64_t reduce_bucket_size = 500'000'000;  // elements
  bool contiguous_gradients = true;
  bool reduce_scatter = true;
  bool use_multi_rank_bucket_allreduce = true;
  std::optional<bool> overlap_comm;  // absent: stage 3 overlaps, the others do not
  bool round_robin_gradients = false;
  bool compute_grad_norm = true;
  std::optional<DType> grad_accum_dtype;         // absent: that of the parameters
  std::optional<DType> communication_data_type;  // likewise
  // Stage 3, in elements:
  std::int64_t prefetch_bucket_size = 50'000'000;
  std::int64_t param_persistence_threshold = 100'000;
  std::int64_t model_persistence_threshold = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_live_parameters = 1'000'000'000;
  std::int64_t max_reuse_distance = 1'000'000'000;
  std::int64_t sub_group_size = 1'000'000'000;
  bool allgather_sequential = false;
  std::int64_t hpz_partition_size = 1;  // ranks that share a secondary shard of every parameter; 1: none
  bool quantized_weights = false;       // gathered in eight bits
  bool quantized_gradients = false;     // over several nodes; on one DeepSpeed reduces as ever
  LeafSpec leaf_module;

  bool overlaps(int stage) const { return overlap_comm.value_or(stage == 3); }
};

// Reads a map that has passed its key's rules; its values are JSON texts.
ZeroOptions zero_options(const std::map<std::string, std::string>& zero);
ZeroOptions zero_options(const Scenario& scenario);
// Whether a key of zero_optimization changes what runs under a stage of 1 or more.
bool has_effect_under(std::string_view zero_key, int stage);
// Whether DeepSpeed trains ZeRO-1 by its BF16_Optimizer: bfloat16 weights, float32 sums of gradients, and the
// state on the device (runtime/engine.py, _do_optimizer_sanity_check).
bool takes_bf16_optimizer(const Scenario& scenario);
// The map itself.
const std::map<std::string, std::string>& zero_settings(const Scenario& scenario);

}  // namespace shardlab
