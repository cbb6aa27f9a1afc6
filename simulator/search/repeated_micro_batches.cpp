#include "simulator/search/repeated_micro_batches.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/scenario/train_spec.h"
#include "simulator/search/grown_text.h"

namespace shardlab {
namespace {

// What may grow by the same number with every micro-batch.
template <typename Visit>
void visit_growing(StepPrediction& step, Visit visit) {
  RunSummary& run = step.run;
  visit(step.first_step.value);
  for (auto* const ends : {&step.first_backwards_end, &step.backwards_end})
    for (Nanoseconds& end : *ends) visit(end.value);
  visit(step.work.tokens);
  visit(step.work.flops.value);
  if (step.work.palm_flops) visit(step.work.palm_flops->value);
  for (Nanoseconds* const time : {&run.step_time.median, &run.step_time.min, &run.step_time.max})
    visit(time->value);
  visit(run.exposed_communication.value);
  for (CommunicationTotal& total : run.communication) {
    visit(total.count);
    visit(total.bytes.value);
    visit(total.sent.value);
  }
  for (TransferTotal& total : run.transfers) {
    visit(total.count);
    visit(total.bytes.value);
  }
}

// Texts that name a micro-batch, or an instruction by its number.
template <typename Visit>
void visit_texts(StepPrediction& step, Visit visit) {
  if (step.run.memory) visit(step.run.memory->peak_label);
  if (step.run.fit_reason) visit(*step.run.fit_reason);
}

std::vector<std::int64_t> growing(StepPrediction step) {
  std::vector<std::int64_t> figures;
  visit_growing(step, [&](std::int64_t figure) { figures.push_back(figure); });
  return figures;
}

std::vector<std::string> texts(StepPrediction step) {
  std::vector<std::string> found;
  visit_texts(step, [&](const std::string& text) { found.push_back(text); });
  return found;
}

// Everything else, but what follows from both: rates and the volume.
RunSummary staying(StepPrediction step) {
  visit_growing(step, [](std::int64_t& figure) { figure = 0; });
  visit_texts(step, [](std::string& text) { text.clear(); });
  RunSummary& run = step.run;
  run.plan_hash.clear();
  if (run.memory) run.memory->peak_instruction = {};
  run.tokens_per_second = run.tokens_per_second_per_gpu = 0;
  run.mfu = run.mfu_palm = std::nullopt;
  run.volume.reset();
  return std::move(run);
}

bool stay_alike(const StepPrediction& a, const StepPrediction& b) {
  return a.forward == b.forward && a.elements.of_model == b.elements.of_model && staying(a) == staying(b);
}

bool grow_evenly(const std::array<StepPrediction, 3>& steps) {
  if (steps[2].elements.sent - steps[1].elements.sent != steps[1].elements.sent - steps[0].elements.sent)
    return false;
  const auto first = growing(steps[0]), second = growing(steps[1]), third = growing(steps[2]);
  for (std::size_t i = 0; i < first.size(); ++i)
    if (third[i] - second[i] != second[i] - first[i]) return false;
  const auto texts_before = texts(steps[0]), texts_between = texts(steps[1]), texts_after = texts(steps[2]);
  for (std::size_t i = 0; i < texts_before.size(); ++i)
    if (grown_text(texts_before[i], texts_between[i], 1) != texts_after[i]) return false;
  return true;
}

// Whether the host and all streams go on beside each other as they did. One that takes longer for a
// micro-batch than the step grows by makes the others wait for it some micro-batches later. One that takes
// less gets ahead, which changes no time, but does change what waits for other streams before it is given
// back (record_stream).
bool keep_pace(const std::vector<Nanoseconds>& shorter, const std::vector<Nanoseconds>& longer,
               Nanoseconds step, bool in_step) {
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const Nanoseconds growth = longer[i] - shorter[i];
    const bool unused = longer[i] == Nanoseconds{};
    if (growth > step || (in_step && growth != step && !unused)) return false;
  }
  return true;
}

bool keep_pace(const StepPrediction& shorter, const StepPrediction& longer) {
  return keep_pace(shorter.backwards_end, longer.backwards_end,
                   longer.run.step_time.median - shorter.run.step_time.median, longer.records_streams) &&
         keep_pace(shorter.first_backwards_end, longer.first_backwards_end,
                   longer.first_step - shorter.first_step, longer.records_streams);
}

}  // namespace

// The longest first: where its memory does not repeat, the others are of no use.
Result<std::optional<RepeatedMicroBatches>> RepeatedMicroBatches::find(
    const Scenario& scenario, const std::function<Result<FullPrediction>(const Scenario&)>& predict) {
  std::array<StepPrediction, k_counts.size()> steps;
  for (std::size_t i = steps.size(); i-- > 0;) {
    Scenario few = scenario;
    few.train->accumulation = k_counts[i];
    SHARDLAB_TRY(const FullPrediction full, predict(few));
    if (i + 1 == steps.size()) {
      SHARDLAB_TRY(const bool repeats, memory_repeats(full));
      if (!repeats) return std::optional<RepeatedMicroBatches>();
    }
    SHARDLAB_TRY(steps[i], step_prediction(full));
  }
  const bool known = keep_pace(steps[1], steps[2]) && stay_alike(steps[0], steps[1]) &&
                     stay_alike(steps[1], steps[2]) && grow_evenly(steps);
  return known ? std::optional(RepeatedMicroBatches(steps[1], steps[2])) : std::nullopt;
}

std::optional<PredictedFigures> RepeatedMicroBatches::figures(const Scenario& scenario) const {
  const std::int64_t more = micro_batches_of_step(scenario) - k_counts.back();
  StepPrediction step = last_;
  const std::vector<std::int64_t> before = growing(before_);
  auto figure_before = before.begin();
  bool all_held = true;
  visit_growing(step, [&](std::int64_t& figure) {
    figure = saturated_sum(figure, saturated_product(more, figure - *figure_before++));
    all_held = all_held && figure < k_largest_integer;
  });
  if (!all_held) return std::nullopt;
  const std::vector<std::string> texts_before = texts(before_);
  auto text_before = texts_before.begin();
  visit_texts(step, [&](std::string& text) { text = *grown_text(*text_before++, text, more); });
  step.elements.sent += static_cast<double>(more) * (step.elements.sent - before_.elements.sent);
  step.run.volume = volume_of(step.elements, volume_limit(scenario));
  add_rates(step.work, step.device, step.run);
  return figures_of(step.run, step.first_step, step.forward, step.work.tokens);
}

}  // namespace shardlab
