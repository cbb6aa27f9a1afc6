// What became of one configuration, and the figures that a search compares: a plain value that a file keeps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/trace/fit.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

struct PredictedFigures {
  Nanoseconds first_step, step_time;
  std::int64_t tokens = 0;  // of a step
  double tokens_per_second = 0;
  std::optional<double> mfu;
  Nanoseconds exposed_communication;
  Nanoseconds forward;  // of a micro-batch, from the first operator to the last
  Bytes peak_allocated;
  std::optional<Bytes> peak_device, device_high, limit;
  std::optional<Fit> fits;
  std::optional<double> fit_probability;
  std::int64_t retries = 0;  // of the allocator, whose time no prediction knows
  std::string fit_reason, peak_label;
  std::map<std::string, double> metrics;  // every metric that the run has, by name

  // What the device must hold, as far as it is predicted.
  Bytes memory() const { return peak_device.value_or(peak_allocated); }
  friend bool operator==(const PredictedFigures&, const PredictedFigures&) = default;
};

PredictedFigures figures_of(const RunSummary& run, Nanoseconds first_step, Nanoseconds forward,
                            std::int64_t tokens);

// Whether a prediction tells two configurations apart: by time, memory and what of it fits.
bool predicted_equal(const PredictedFigures& a, const PredictedFigures& b);

struct Outcome {
  std::string refused;  // why, in one line; empty: it was simulated
  PredictedFigures figures;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// One line of JSON, and back; a text that is none of ours is bad_input.
std::string outcome_text(const std::string& key, const Outcome& outcome);
struct KeptOutcome {
  std::string key;
  Outcome outcome;
};
Result<KeptOutcome> parse_outcome(std::string_view line);
// Whether it may be one that was cut short, anywhere, or one of another version.
bool may_be_outcome(std::string_view line);

}  // namespace shardlab
