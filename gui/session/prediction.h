// What a scenario's text gives: the scenario, its plans, the simulated run and its figures.
//
// Immutable once made; shared between the thread that made it and the panels.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/planned_scenario.h"
#include "engine/report/explain_memory/explained_memory.h"
#include "engine/scenario/source.h"
#include "engine/trace/run_summary.h"
#include "gui/view_model/loaded_run.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab::gui {

// Everything a prediction depends on.
struct PredictionRequest {
  std::uint64_t revision = 0;  // of the document
  std::string text;
  std::string file_name;                  // for messages; its folder is where relative paths begin
  std::vector<std::string> calibrations;  // JSON texts, newest first
  std::string calibrations_from;          // for messages about them
};

struct Prediction {
  std::uint64_t revision = 0;
  ScenarioSource source;
  PlannedScenario planned;
  view::LoadedRunPtr run;         // as panels show every run; steps[0] of its trace is the steady step
  std::vector<Bytes> live_after;  // steady plan, by instruction: live_bytes_after
  std::optional<Calibration> calibration;
  double milliseconds = 0;  // it took

  const StepPlan& plan() const { return planned.plan.steady; }
  const RunSummary& summary() const { return run->record.summary; }
};

// How far a request came.
struct PredictionOutcome {
  std::uint64_t revision = 0;
  std::shared_ptr<const Prediction> prediction;  // null when there is an error
  std::optional<Error> error;
};

// What single keys would change about a prediction.
struct PredictedAlternatives {
  std::uint64_t revision = 0;
  std::vector<Alternative> alternatives;
};

// What the peak of a prediction is made of.
struct PredictedMemory {
  std::uint64_t revision = 0;
  std::shared_ptr<const ExplainedMemory> explained;
  bool whole = false;  // with the settings that would lower it
};

// Reads, plans, checks, simulates and summarizes. Pure apart from reading the files that the scenario names.
PredictionOutcome predict_text(const PredictionRequest& request);

}  // namespace shardlab::gui
