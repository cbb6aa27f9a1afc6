// What `parallel.zero` says, as values: keys of DeepSpeed's zero_optimization section with its defaults.
//
// Source: DeepSpeed 0.19.8, deepspeed/runtime/zero/config.py.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/base/dtype.h"

namespace shardlab {

struct ZeroOptions {
  std::int64_t reduce_bucket_size = 500'000'000;  // elements
  bool contiguous_gradients = true;
  bool reduce_scatter = true;
  bool use_multi_rank_bucket_allreduce = true;
  bool overlap_comm = false;  // stages 0 to 2; stage 3 overlaps where it is not given
  bool round_robin_gradients = false;
  std::optional<DType> grad_accum_dtype;         // absent: that of the parameters
  std::optional<DType> communication_data_type;  // likewise
};

// Of a map that was read by its key's rules: values are JSON texts.
ZeroOptions zero_options(const std::map<std::string, std::string>& zero);

}  // namespace shardlab
