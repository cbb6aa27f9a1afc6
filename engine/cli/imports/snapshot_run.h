// A CUDA memory snapshot on its way into the database.
#pragma once

#include <filesystem>

#include "engine/base/result.h"
#include "engine/store/run_record.h"

namespace shardlab {

// Whether the file begins as a pickle of today's Python does (protocol 2 or later).
bool is_memory_snapshot(const std::filesystem::path& file);

// What torch.cuda.memory._dump_snapshot() wrote, as a measured run whose one step is the history: its events
// in at most k_snapshot_stretches stretches, each with the memory after it and at its highest. Peaks are
// exact. Errors of read_history_events() and memory_stretches().
Result<RunRecord> run_of_snapshot(const std::filesystem::path& file);

inline constexpr std::size_t k_snapshot_stretches = 1000;

}  // namespace shardlab
