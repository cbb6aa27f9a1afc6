// A function that expressions of lessons may call: what it is called, what it is asked of, what it gives.
//
// To add one: a row in a figures_of_*.cpp. docs/writing-lessons.md lists them, from these tables.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lessons/lesson_value.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/comparison.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"

namespace shardlab::lessons {

// Whom a function is asked of: a prediction, or a real run. Never null but for `comparison`, which only real
// runs have, and `refusal`: why a scenario has no prediction, where everything else is null.
struct FigureSubject {
  const PlannedScenario* planned = nullptr;
  const RunTrace* trace = nullptr;
  const RunSummary* summary = nullptr;
  const Comparison* comparison = nullptr;
  const Error* refusal = nullptr;

  const StepPlan& plan() const { return planned->plan.steady; }
  const RankTrace& rank() const { return trace->steps.front().ranks.front(); }
};

struct FigureFunction {
  std::string_view name;
  std::string_view arguments;  // "a, kind": as it is written
  int least = 0, most = 0;     // arguments behind the scenario
  std::string_view help;
  Result<Value> (*value)(const FigureSubject& subject, const std::vector<Value>& rest);
  bool of_refused = false;  // asked of scenarios that have no prediction
};

// The text of an argument; bad_input without a place for one that is none.
Result<std::string> text_of(const Value& value);
// Its word of an enumeration; bad_input with the nearest.
template <typename E>
Result<E> word_of(const Value& value);

}  // namespace shardlab::lessons

#include "engine/base/nearest.h"
#include "engine/base/words.h"

namespace shardlab::lessons {

template <typename E>
Result<E> word_of(const Value& value) {
  SHARDLAB_TRY(const std::string text, text_of(value));
  if (const auto word = parse_word<E>(text)) return *word;
  return bad_input({}, "'" + text + "' is not known here", suggestion(text, all_words<E>()));
}

}  // namespace shardlab::lessons
