// "Why?": where a number comes from: its formula, the numbers that went into it, the instruction and the
// settings behind it, and who says so. Every figure and every cell of a table that is a number has one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/ids.h"
#include "engine/plan/planned_scenario.h"
#include "gui/view_model/loaded_run.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab::view {

struct WhyPart {
  std::string label;
  std::string value;
  std::optional<InstructionId> instruction{};  // that one can go to
  std::optional<double> number{};  // what the formula takes, in the unit of the figure; absent: only told
};

// What the formula does with the numbers of the parts, in their order.
enum class Arithmetic : std::uint8_t {
  none,  // in words only
  sum,
  difference,  // the first less the others
  product,
  quotient,  // the first by the second
  error,     // the first by the second, less one
  median,
};

struct Why {
  std::string title;    // "step time of r12 measured"
  std::string value;    // "229 ms"
  std::string formula;  // in words, as docs/glossary.md defines it
  std::string source;   // where the numbers come from: a trace, a plan, a file
  std::vector<WhyPart> parts;
  std::vector<std::string> settings;  // keys of the scenario that decide most
  std::vector<std::string> notes;     // calibrated or not, what is left out
  Arithmetic arithmetic = Arithmetic::none;
};

// The formula done once more with the numbers of the parts; absent where it is in words only, or where a part
// that it needs is missing.
std::optional<double> reckon(const Why& why);

// The same as lines of text, to be copied.
std::string to_text(const Why& why);

// What a column of a table, or a metric, holds.
struct Meaning {
  std::string formula;
  std::string source{};
  std::vector<std::string> settings{};
};

// Why the figures of a run are what they are: of the whole run, of a moment of its memory, of an instruction.
//
// None of these is cheap (they walk the trace): made when somebody asks, not each frame.

// Who took the numbers: "measured on 2 x ...", "simulated with published figures".
std::string source_of(const LoadedRun& run);

// Why a metric (metric_meaning() below) is what it is; absent for a name that is none or a figure that the
// run does not have. `planned`, where it is known, gives the tokens and FLOPs that rates are made of.
std::optional<Why> why_metric(const LoadedRun& run, std::string_view metric,
                              const PlannedScenario* planned = nullptr);

// Why an instruction took its time in a run: its spans; which waits held it back in the typical step.
Why why_time(const LoadedRun& run, InstructionId id);

// What the cost model says of an instruction: the term, its formula and their parts. `calibration` may be
// null. Errors: resolve_device()'s.
Result<Why> why_cost(const PlannedScenario& planned, const Calibration* calibration, InstructionId id);

// What the memory was made of, by class, while an instruction was issued.
Why why_memory(const LoadedRun& run, const MemorySample& sample);

// What the figures of a run mean, in words, and which settings decide them.

// The meaning of a metric (metric_names()) or of any other figure of a run (trace/figure_rows.h); absent for
// a name that is none.
std::optional<Meaning> metric_meaning(std::string_view metric);

}  // namespace shardlab::view
