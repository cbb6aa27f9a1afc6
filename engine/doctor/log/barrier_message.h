// The barrier over the store that ends the making of a process group. Private to this folder.
#pragma once

#include <optional>
#include <string_view>

#include "engine/doctor/log/log_facts.h"

namespace shardlab {

// `Waiting in store based barrier to initialize process group for rank: 0, key: ... (world_size=4,
// worker_count=8, timeout=0:30:00)` of torch/distributed/distributed_c10d.py, in lower case. Nothing for
// other lines.
std::optional<WaitingBarrier> read_barrier_message(std::string_view lower_case_line);

// Whether a line says that such a barrier was passed.
bool passes_barrier(std::string_view lower_case_line);

}  // namespace shardlab
