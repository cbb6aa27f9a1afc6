// What a watched command said so far: its events (`--progress json`, docs/json.md) and its other lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/trace/run_entry.h"

namespace shardlab::view {

// What is known of one finished step; steps faster than the program tells them have none.
struct JobStep {
  std::int64_t step = 0;  // counted from 1
  std::optional<double> loss;
  std::optional<Nanoseconds> step_time;
  std::optional<double> tokens_per_second;
  std::optional<Bytes> peak;
};

struct StoredByJob {
  RunId id;
  std::optional<RunKind> kind;  // none where the event says no kind that is known
  std::string plan_hash;
};

struct JobOutput {
  static constexpr std::size_t k_most_lines = 5000;  // of the log; older ones are dropped

  std::string activity;  // "training", "calibrating matmul.forward": what it does now
  std::int64_t steps_done = 0;
  std::int64_t steps = 0;  // 0: not known yet
  std::vector<JobStep> history;
  std::vector<StoredByJob> stored;
  std::optional<Error> error;      // in the program's own words
  std::vector<std::string> lines;  // everything that is no event, oldest first
  std::uint64_t dropped_lines = 0;
};

// A line without its end. What looks like an event but is none that is known counts as a line of the log.
void take_output_line(JobOutput& output, std::string_view line);

}  // namespace shardlab::view
