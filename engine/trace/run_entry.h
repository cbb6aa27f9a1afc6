// RunEntry: one line of the list of stored runs.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/model/choices.h"
#include "engine/trace/fit.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// Number of a stored run, never used twice in one database. People write it "r12".
struct RunId {
  std::int64_t value = 0;
  friend constexpr auto operator<=>(RunId, RunId) = default;
};

std::string to_string(RunId id);

// Reads "r12" or "12"; anything else is bad_input.
Result<RunId> parse_run_id(std::string_view text);

struct RunEntry {
  RunId id;
  RunKind kind = RunKind::predicted;
  std::string name;          // of the scenario
  std::int64_t created = 0;  // seconds since 1970-01-01 UTC
  std::string strategy;
  int ranks = 1;        // 0: not known
  std::string machine;  // of the scenario, in words: "8 x H100-SXM (hgx-h100)"; empty: not known
  std::string
      times_not_judged;  // why its times are no measurement of its plan; empty: they are, or nobody asked
  std::optional<Implementation> implementation;
  std::string plan_hash;  // of the steady step
  std::string run_hash;
  bool calibrated = false;
  Nanoseconds step_time;  // median
  double tokens_per_second = 0;
  std::optional<double> mfu;
  Nanoseconds exposed_communication;
  std::optional<Bytes> peak_allocated;
  std::optional<Fit> fits;
  std::optional<double> last_loss;
  std::vector<std::string> tags;
  std::string note;

  friend bool operator==(const RunEntry&, const RunEntry&) = default;
};

// "2026-03-01 14:05" in UTC.
std::string format_created(std::int64_t seconds);

}  // namespace shardlab
