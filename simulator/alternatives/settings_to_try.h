// Which settings are worth a prediction of their own beside a scenario's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/planned_scenario.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// What a setting changes besides memory and time.
enum class Touches : std::uint8_t {
  nothing,    // the training is the same, number by number but for rounding
  batch,      // the global batch, unless accumulation makes up for it
  precision,  // it computes or stores in fewer bits
  teacher,    // in how many bits a frozen teacher is stored
  training,   // what is trained: the context
  operators,  // whose operators compute
};

// What our operators are to somebody who trains with PyTorch's: nothing that can be set there. They stand
// behind all settings, and no fix proposes them.
inline constexpr const char* k_own_operators = "model.implementation=fused";
inline constexpr const char* k_comparison = "comparison: what kernels written for it would buy";

struct SettingToTry {
  std::string setting;             // as for --set
  std::string effect;              // in words, for a table
  std::vector<BufferClass> frees;  // what it is meant to make smaller
  double most = 1;                 // the largest share of these that it can take away
  Touches touches = Touches::nothing;
};

// The strategy that shards a distillation's teacher: the student's, where it can have a teacher, else the
// newest that can.
std::string_view sharding_for_teacher(const Scenario& student);

// On GPUs, the implementation that the scenario does not have.
std::vector<SettingToTry> other_implementation(const PlannedScenario& planned);

// Settings that could halve the memory at the peak: those that are not set so already and that could take
// away half of it in this prediction. What a setting cannot free is not tried.
std::vector<SettingToTry> settings_that_could_halve(const PlannedScenario& planned, const RunSummary& run);

// Every setting that is not set so already and whose classes of buffers hold anything at the peak, and one
// for what the allocator reserves beside them. Whoever proposes to save memory takes them from here: the
// table of `explain memory`, what mends a search's misses, the doctor's fixes.
std::vector<SettingToTry> settings_that_could_save(const PlannedScenario& planned, const RunSummary& run);

// Whether `left` of a peak is half of it, to a hundredth: tokens, rotary tables and scalars are as large
// whatever is set.
bool is_half(Bytes left, Bytes peak);

}  // namespace shardlab
