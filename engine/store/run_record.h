// What the store keeps of a run, and the other things it keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/trace/backtest.h"
#include "engine/trace/comparison.h"
#include "engine/trace/run_entry.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

struct RunRecord {
  std::string name;           // of the scenario
  std::int64_t created = 0;   // seconds since 1970-01-01 UTC; 0: now, when saved
  std::string machine;        // RunEntry::machine
  std::string scenario_yaml;  // complete, so that the run can be repeated
  RunPlan plan;
  RunTrace trace;  // its provenance says whether the run is predicted or measured
  RunSummary summary;
  std::vector<std::string> tags;
  std::string note;
  std::string times_not_judged = {};  // RunEntry::times_not_judged

  // Out of line: many hand it on, and few look into all of it.
  RunRecord();
  RunRecord(const RunRecord&);
  RunRecord(RunRecord&&) noexcept;
  RunRecord& operator=(const RunRecord&);
  RunRecord& operator=(RunRecord&&) noexcept;
  ~RunRecord();
};

// Fitted coefficients of a machine, as the calibration writes them; the store does not look inside `text`.
struct CalibrationRecord {
  std::int64_t id = 0;       // set by the store
  std::int64_t created = 0;  // seconds since 1970-01-01 UTC; 0: now, when saved
  std::string key;           // what the provenance of a run that uses it names (Provenance::calibration)
  std::string machine;       // fingerprint
  std::string text;
};

struct RunFilter {
  std::optional<RunKind> kind = {};
  std::string name = {};       // exact; empty: any
  std::string tag = {};        // empty: any
  std::string plan_hash = {};  // of the steady step, or its beginning; empty: any
  int limit = 0;               // the newest so many; 0: all
};

// One step of a run, without its spans.
struct StepHeader {
  std::int64_t step = 0;
  bool warmup = false;
  std::string plan_hash;
  std::vector<int> ranks;
};

struct ComparisonEntry {
  std::int64_t id = 0;
  std::int64_t created = 0;
  RunId predicted;
  RunId measured;
  Verdict verdict = Verdict::not_judged;
  std::vector<Metric> metrics;
};

struct BacktestEntry {
  std::int64_t id = 0;
  std::int64_t created = 0;  // seconds since 1970-01-01 UTC
  Backtest backtest;         // without what follows from its rows: summary and verdicts
};

}  // namespace shardlab
