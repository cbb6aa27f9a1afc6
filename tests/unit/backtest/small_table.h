// A table of published runs that can be worked out by hand.
#pragma once

#include <string>

#include "simulator/backtest/published_table.h"
#include "tests/catch.h"

namespace shardlab::test {

inline const std::string k_small_columns =
    "id,source_repo_or_paper,framework,gpu,n_gpus,strategy,seq_len,micro_batch_per_gpu,family,n_layers,"
    "hidden,"
    "tp,memory_kind,peak_memory_allocated_gib,peak_memory_reserved_gib,tokens_per_s_per_gpu,step_time_s,"
    "oom\n";

inline PublishedTable table_of(const std::string& rows) {
  auto table = read_published(k_small_columns + rows, "small.csv");
  REQUIRE_OK(table);
  return *std::move(table);
}

}  // namespace shardlab::test
