#include "engine/report/judge_prediction.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/report/figures.h"

namespace shardlab {
namespace {

Bytes beside_the_allocator(const std::vector<MemoryOverhead>& overheads) {
  Bytes sum;
  for (const MemoryOverhead& each : overheads)
    if (each.where == OverheadPlace::device) sum += each.bytes;
  return sum;
}

std::string words_of(LifePhase phase) {
  std::string text(to_string(phase));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// A run whose allocator has to give memory back and ask again is at the edge, whatever the sum says.
FitVerdict judge_steps(const RunTrace& run, Bytes limit) {
  const DeviceMemory& memory = *run.device_memory;
  const Bytes margin = margin_of(run.overheads);
  if (memory.out_of_memory > 0 || memory.device_peak > limit)
    return {Fit::no, fmt::format("the steps take {} of the device's {}, whatever the allocator gives back",
                                 to_string(memory.device_peak), to_string(limit))};
  if (memory.retries > 0)
    return {Fit::tight, fmt::format("{} only after the allocator gave memory back",
                                    counted(memory.retries, "allocation"))};
  if (memory.device_peak + margin > limit)
    return {Fit::tight,
            fmt::format("{} are left of the device's {}, and libraries may take {} more",
                        to_string(limit - memory.device_peak), to_string(limit), to_string(margin))};
  return {};
}

FitVerdict judge_phase(const PhaseMemory& phase, Bytes beside, const FitLimits& limits) {
  if (!phase.asked) return {};
  if (limits.host && phase.host > *limits.host)
    return {Fit::no, fmt::format("{} takes {} of a node's {} of host memory", words_of(phase.phase),
                                 to_string(phase.host), to_string(*limits.host))};
  const bool is_step = phase.phase == LifePhase::first_step || phase.phase == LifePhase::steady;
  if (is_step || phase.device + beside <= limits.device) return {};
  return {Fit::no, fmt::format("{} takes {} of the device's {}", words_of(phase.phase),
                               to_string(phase.device + beside), to_string(limits.device))};
}

}  // namespace

Bytes margin_of(const std::vector<MemoryOverhead>& overheads) {
  Bytes margin;
  for (const MemoryOverhead& each : overheads)
    if (each.where != OverheadPlace::host) margin += each.high - each.bytes;
  return margin;
}

FitVerdict judge_prediction(const RunTrace& predicted, const FitLimits& limits) {
  const FitVerdict steps = judge_steps(predicted, limits.device);
  if (steps.fit == Fit::no) return steps;
  const Bytes beside = beside_the_allocator(predicted.overheads);
  for (const PhaseMemory& phase : predicted.life) {
    FitVerdict verdict = judge_phase(phase, beside, limits);
    if (verdict.fit == Fit::no) return verdict;
  }
  return steps;
}

}  // namespace shardlab
