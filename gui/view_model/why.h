// "Why?": where a number comes from: its formula with the numbers filled in, the instruction and the settings
// behind it, and what it does not contain. Panels show it beside every figure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/planned_scenario.h"
#include "gui/view_model/loaded_run.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab::view {

struct WhyPart {
  std::string label;
  std::string value;
  std::optional<InstructionId> instruction{};  // that one can go to
};

struct Why {
  std::string title;    // "step time of r12 measured"
  std::string value;    // "229 ms"
  std::string formula;  // in words, as docs/glossary.md defines it
  std::vector<WhyPart> parts;
  std::vector<std::string> settings;  // keys of the scenario that decide most
  std::vector<std::string> notes;     // calibrated or not, what is left out
};

// Of a metric's name (metric_names()); absent for a name that is none or a figure that the run does not have.
std::optional<Why> why_metric(const LoadedRun& run, std::string_view metric);

// Of an instruction's time in a run: its spans; which waits held it back in the typical step.
Why why_time(const LoadedRun& run, InstructionId id);

// What the cost model says of an instruction: the term, its formula and their parts. `calibration` may be
// null.
Result<Why> why_cost(const PlannedScenario& planned, const Calibration* calibration, InstructionId id);

// As lines of text, to be copied.
std::string to_text(const Why& why);

}  // namespace shardlab::view
