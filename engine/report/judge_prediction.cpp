#include "engine/report/judge_prediction.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/report/figures.h"

namespace shardlab {
namespace {

// What is less likely than the one and likelier than the other is unsure.
constexpr double k_sure = 0.9, k_unlikely = 0.1;

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

std::string steps_text(const DeviceMemory& memory, Bytes limit) {
  if (memory.out_of_memory > 0)
    return fmt::format(
        "the steps reserve up to {} on a device of {}; even giving memory back an allocation fails",
        to_string(memory.device_peak), to_string(limit));
  if (memory.retries > 0)
    return fmt::format("{} only after the allocator gave memory back", counted(memory.retries, "allocation"));
  return fmt::format("the steps take {} of the device's {}", to_string(memory.device_peak), to_string(limit));
}

// A run whose allocator has to give memory back and ask again is at the edge, however likely it is.
FitVerdict judge_steps(const RunTrace& run, Bytes limit) {
  const DeviceMemory& memory = *run.device_memory;
  FitVerdict verdict;
  const bool runs = memory.out_of_memory == 0 && memory.device_peak <= limit;
  verdict.probability = run.fit ? run.fit->probability : runs;
  const bool at_edge = memory.retries > 0 || memory.out_of_memory > 0;
  if (verdict.probability <= k_unlikely)
    verdict.fit = Fit::no;
  else if (verdict.probability < k_sure || at_edge)
    verdict.fit = Fit::unsure;
  if (verdict.fit != Fit::yes) verdict.reason = steps_text(memory, limit);
  return verdict;
}

// What does not fit in words, of a phase that the job has.
std::optional<std::string> too_much(const PhaseMemory& phase, Bytes beside, const FitLimits& limits) {
  if (!phase.asked) return std::nullopt;
  if (limits.host && phase.host > *limits.host)
    return fmt::format("{} takes {} of a node's {} of host memory", words_of(phase.phase),
                       to_string(phase.host), to_string(*limits.host));
  const bool is_step = phase.phase == LifePhase::first_step || phase.phase == LifePhase::steady;
  if (is_step || phase.device + beside <= limits.device) return std::nullopt;
  return fmt::format("{} takes {} of the device's {}", words_of(phase.phase),
                     to_string(phase.device + beside), to_string(limits.device));
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
    if (auto reason = too_much(phase, beside, limits)) return {Fit::no, steps.probability, std::move(reason)};
  }
  return steps;
}

}  // namespace shardlab
