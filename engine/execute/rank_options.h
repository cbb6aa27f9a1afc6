// The command line of shardlab-rank, which only shardlab itself writes.
#pragma once

#include <filesystem>
#include <string>

#include "engine/base/result.h"

namespace shardlab {

struct RankOptions {
  std::filesystem::path scenario;      // --scenario: YAML as written by the launcher
  std::string directory;               // --directory: that the scenario's relative paths start from
  std::string run_hash;                // --run-hash: of the plans the launcher made
  std::filesystem::path spool;         // --spool
  int threads = 1;                     // --threads
  int parent = 0;                      // --parent: process that this one does not outlive; 0: none
  bool poison = false;                 // --poison
  std::filesystem::path save_weights;  // --save-weights
  std::filesystem::path save_load;     // --save-load
  std::filesystem::path
      memory_snapshot;           // --memory-snapshot: file for the device allocator's history; empty: none
  std::filesystem::path probes;  // --probes: list to measure before training; results go beside the spool
};

// bad_input for what is unknown, incomplete or missing.
Result<RankOptions> parse_rank_options(int count, const char* const* arguments);

}  // namespace shardlab
