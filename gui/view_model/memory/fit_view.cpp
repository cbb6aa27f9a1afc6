#include "gui/view_model/memory/fit_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "engine/base/chance.h"
#include "engine/base/with_spaces.h"
#include "engine/report/explain_memory/memory_sum.h"
#include "engine/trace/memory_timeline.h"

namespace shardlab::view {
namespace {

Bytes largest(const FitView& view, std::size_t buffer_class) {
  Bytes most = view.by_class[buffer_class];
  for (const PhasePeak& phase : view.phases) most = std::max(most, phase.by_class[buffer_class]);
  return most;
}

}  // namespace

namespace {

FitView judged(const RunSummary& run) {
  const MemorySummary& memory = *run.memory;
  FitView view;
  view.peak = memory.peak_allocated;
  view.needed = memory.peak_device.value_or(memory.peak_allocated);
  view.on_device = memory.peak_device.has_value();
  view.low = memory.device_low;
  view.high = memory.device_high;
  view.capacity = run.memory_limit;
  view.fits = run.fits;
  view.probability = run.fit_probability;
  view.reason = run.fit_reason.value_or("");
  view.margin = run.fit_margin;
  view.peak_instruction = memory.peak_instruction;
  view.peak_label = memory.peak_label;
  view.by_class = memory.by_class;
  return view;
}

void add_phases(FitView& view, const LoadedRun& run, const RankTrace& rank) {
  const std::vector<StepPhase> phases = phases_of(run.plan());
  for (const MemorySample& sample : rank.memory) {
    PhasePeak& phase = view.phases[static_cast<std::size_t>(phases.at(sample.instruction.index()))];
    if (phase.instruction && sample.peak <= phase.bytes) continue;
    phase.bytes = sample.peak;
    phase.by_class = sample.by_class_at_peak;
    phase.instruction = sample.instruction;
  }
  for (PhasePeak& phase : view.phases)
    if (phase.instruction) phase.words = run.words().instruction(*phase.instruction);
}

void add_classes(FitView& view) {
  for (std::size_t i = 0; i < k_buffer_classes; ++i)
    if (largest(view, i).value > 0) view.classes.push_back(static_cast<BufferClass>(i));
  std::stable_sort(view.classes.begin(), view.classes.end(), [&](BufferClass a, BufferClass b) {
    return view.by_class[static_cast<std::size_t>(a)] > view.by_class[static_cast<std::size_t>(b)];
  });
}

// The first line of the sum is that of the live tensors.
void add_parts(FitView& view, const MemorySum& sum) {
  if (view.classes.empty()) view.parts.push_back({"of what is not known", view.peak, {}, {}});
  for (const BufferClass its : view.classes) {
    const Bytes bytes = view.by_class[static_cast<std::size_t>(its)];
    if (bytes.value > 0) view.parts.push_back({with_spaces(to_string(its)), bytes, its, {}});
  }
  for (std::size_t i = 1; i < sum.lines.size(); ++i) {
    const MemorySumLine& line = sum.lines[i];
    if (line.role == SumRole::part) view.parts.push_back({line.name, line.bytes, {}, line.note});
  }
}

}  // namespace

std::optional<FitView> make_fit_view(const LoadedRun& run) {
  const StepTrace* const step = typical_step(run);
  if (!run.record.summary.memory || step == nullptr) return std::nullopt;
  FitView view = judged(run.record.summary);
  if (view.peak_instruction.index() < run.plan().instructions.size())
    view.peak_words = run.words().instruction(view.peak_instruction);
  for (std::size_t i = 0; i < k_step_phases; ++i) view.phases[i].phase = static_cast<StepPhase>(i);
  if (const RankTrace* const rank = rank_of(*step, run.record.summary.memory->peak_rank))
    add_phases(view, run, *rank);
  add_classes(view);
  add_parts(view, memory_sum(run.record.summary));
  return view;
}

std::string spare_words(const FitView& view) {
  if (!view.capacity) return {};
  const Bytes spare = *view.capacity - view.needed;
  if (spare < Bytes{}) return to_string(-spare) + " too much";
  if (view.fits == Fit::no)
    return to_string(spare) +
           (view.reason.empty() ? " to spare, and yet it does not fit" : " to spare, and yet:");
  std::string text = to_string(spare) + " to spare";
  if (view.margin) text += fmt::format("; libraries may take {} more", to_string(*view.margin));
  return text;
}

std::string likelihood_words(const FitView& view) {
  std::string text;
  if (view.probability) text = "steps run with " + chance(*view.probability);
  if (view.low && view.high)
    text += fmt::format("{}{} to {} in use (80 % of all cases)", text.empty() ? "" : ", ",
                        to_string(*view.low), to_string(*view.high));
  return text;
}

}  // namespace shardlab::view
