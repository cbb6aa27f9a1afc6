// The scenarios of a lesson with their plans and predictions: what the names in its expressions mean.
//
// A scenario is read, planned and predicted when it is first asked for, without a calibration, and kept.
// Belongs to one thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/lessons/lesson.h"
#include "engine/plan/planned_scenario.h"
#include "engine/scenario/source.h"
#include "engine/trace/comparison.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"

namespace shardlab::lessons {

// A scenario and its prediction.
struct PredictedSubject {
  ScenarioSource source;
  PlannedScenario planned;
  RunTrace trace;
  RunSummary summary;
};

// What a real run of a scenario gave.
struct MeasuredSubject {
  RunTrace trace;
  RunSummary summary;
  Comparison comparison;  // with the prediction
};

// Predictions by file and settings, shared by the lessons that are open: lessons often show the same
// scenario.
class PredictionCache {
 public:
  // Errors: what reading, planning and predicting the scenario say. The pointers hold as long as the cache.
  Result<const PredictedSubject*> predicted(const std::string& file,
                                            const std::vector<std::string>& settings);

 private:
  using Kept = std::shared_ptr<const Result<PredictedSubject>>;
  std::map<std::vector<std::string>, Kept> kept_;
};

class LessonSubjects final : public FigureSource {
 public:
  // Both must outlive it.
  LessonSubjects(const Lesson& lesson, PredictionCache& cache) : lesson_(lesson), cache_(cache) {}

  const Lesson& lesson() const { return lesson_; }

  // bad_input for an unknown name; what the scenario's reading, planning and predicting say.
  Result<const PredictedSubject*> predicted(const std::string& name) const;
  // The scenario with further settings laid upon it. Errors: likewise.
  Result<const PredictedSubject*> predicted_with(const std::string& name,
                                                 const std::vector<std::string>& settings) const;

  // From now on run(name) is this.
  void take_run(const std::string& name, MeasuredSubject run);
  bool has_run(const std::string& name) const { return runs_.contains(name); }

  // Whether `until` holds where `changed` stands for the scenario with these settings.
  Result<bool> reaches(const std::string& scenario, const std::vector<std::string>& settings,
                       const Expression& until) const;

  Result<Value> named(const std::string& name) const override;
  Result<Value> called(const std::string& function, const std::vector<Value>& arguments) const override;

 private:
  struct Change {
    std::string scenario;
    std::vector<std::string> settings;
  };

  const Lesson& lesson_;
  PredictionCache& cache_;
  std::map<std::string, MeasuredSubject> runs_;
  std::optional<Change> change_;
};

}  // namespace shardlab::lessons
