// The `parallel` section of a scenario.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/model/reshard_after_forward.h"
#include "engine/model/wrap/wrap_spec.h"
#include "engine/scenario/parallel_words.h"

namespace shardlab {

struct MeshSpec {
  int replicate = 1;
  int shard = 0;  // 0: all ranks that the other dimensions leave
  int tensor = 1;
  int expert = 1;
  friend bool operator==(const MeshSpec&, const MeshSpec&) = default;
};

struct PrefetchSpec {
  BackwardPrefetch backward = BackwardPrefetch::pre;
  bool forward = false;
  bool limit_all_gathers = true;
  int forward_depth = 0;
  int backward_depth = 0;
  friend bool operator==(const PrefetchSpec&, const PrefetchSpec&) = default;
};

struct DdpSpec {
  Bytes bucket_size = mebibytes(25);
  std::optional<Bytes> first_bucket_size;  // absent: 1 MiB beside the default bucket size, else as the others
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
  bool find_unused_parameters = false;
  friend bool operator==(const DdpSpec&, const DdpSpec&) = default;
};

struct ParallelSpec {
  std::string strategy = "none";  // a name of strategy_list.h
  MeshSpec mesh;
  Fsdp1Sharding sharding = Fsdp1Sharding::full_shard;
  bool use_orig_params = true;
  ReshardAfterForward reshard_after_forward;
  bool reshard_after_backward = true;
  bool requires_all_reduce = true;
  WrapSpec wrap;
  PrefetchSpec prefetch;
  DdpSpec ddp;
  std::map<std::string, std::string> zero;  // keys of DeepSpeed's zero_optimization, values as JSON text
  bool sync_module_states = false;
  Initialization initialization = Initialization::meta;
  friend bool operator==(const ParallelSpec&, const ParallelSpec&) = default;
};

}  // namespace shardlab
