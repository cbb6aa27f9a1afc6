#include "simulator/alternatives/settings_to_try.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/train_spec.h"
#include "simulator/alternatives/savings.h"

namespace shardlab {
namespace {

// What is left of a peak that a setting halves: half of it, and a hundredth.
constexpr double k_left = 0.51;

double could_free(const SettingToTry& tried, const MemorySummary& memory) {
  Bytes held;
  for (const BufferClass each : tried.frees) held += memory.by_class[static_cast<std::size_t>(each)];
  return tried.most * static_cast<double>(held.value);
}

bool could_halve(const SettingToTry& tried, const MemorySummary& memory) {
  return could_free(tried, memory) >= (1 - k_left) * static_cast<double>(memory.peak_allocated.value);
}

// Activations go by the sequence. A batch that accumulation can make up for is asked for: a divisor.
SettingToTry smaller_micro_batch(const TrainSpec& train, int sequences) {
  const int times = train.micro_batch / sequences;
  return {
      fmt::format("train.micro_batch={}", sequences),
      fmt::format("changes the global batch, unless train.accumulation={} follows",
                  train.accumulation * times),
      {BufferClass::activation, BufferClass::activation_gradient, BufferClass::workspace, BufferClass::batch},
      1 - 1.0 / times,
      Touches::batch};
}

// The largest micro-batch below the scenario's that `is_enough`.
template <typename IsEnough>
void add_smaller_micro_batch(const TrainSpec& train, Savings& savings, IsEnough&& is_enough) {
  for (int sequences = train.micro_batch / 2; sequences >= 1; --sequences) {
    if (train.micro_batch % sequences != 0) continue;
    SettingToTry smaller = smaller_micro_batch(train, sequences);
    if (!is_enough(smaller)) continue;
    savings.push_back(std::move(smaller));
    return;
  }
}

// Where there is one sequence, half of it: activations go by the token too.
void add_shorter_sequence(const PlannedScenario& planned, Savings& savings) {
  const std::int64_t tokens = planned.scenario.model->sequence_length;
  if (planned.scenario.train->micro_batch > 1 || tokens % 2 != 0) return;
  savings.push_back({fmt::format("model.sequence_length={}", tokens / 2),
                     "half the context, and half the tokens of a step",
                     {BufferClass::activation, BufferClass::activation_gradient, BufferClass::workspace,
                      BufferClass::batch},
                     0.5,
                     Touches::training});
}

// Gaps between blocks are of no class of buffers: what is reserved beside the tensors is what it can free.
void add_allocator_saving(const PlannedScenario& planned, const MemorySummary& memory, Savings& savings) {
  if (!planned.scenario.cluster->allocator_conf.empty()) return;
  if (memory.peak_reserved.value_or(Bytes{}) <= memory.peak_allocated) return;
  savings.push_back({"cluster.allocator.conf=expandable_segments:True",
                     "segments that grow: fewer gaps between blocks",
                     {}});
}

Savings all_but_micro_batches(const PlannedScenario& planned) {
  Savings savings;
  add_unit_savings(planned, savings);
  add_state_savings(planned, savings);
  add_teacher_savings(planned, savings);
  add_activation_savings(planned, savings);
  add_precision_savings(planned, savings);
  add_shorter_sequence(planned, savings);
  return savings;
}

}  // namespace

std::vector<SettingToTry> other_implementation(const PlannedScenario& planned) {
  if (planned.scenario.cluster->device == DeviceKind::cpu) return {};
  if (planned.graph.implementation == Implementation::eager)
    return {{k_own_operators, k_comparison, {}, 1, Touches::operators}};
  return {
      {"model.implementation=eager", "as PyTorch's and transformers' modules", {}, 1, Touches::operators}};
}

std::vector<SettingToTry> settings_that_could_halve(const PlannedScenario& planned, const RunSummary& run) {
  if (!run.memory) return {};
  const auto enough = [&](const SettingToTry& each) { return could_halve(each, *run.memory); };
  Savings savings = all_but_micro_batches(planned);
  std::erase_if(savings, [&](const SettingToTry& each) { return !enough(each); });
  add_smaller_micro_batch(*planned.scenario.train, savings, enough);
  return savings;
}

std::vector<SettingToTry> settings_that_could_save(const PlannedScenario& planned, const RunSummary& run) {
  if (!run.memory) return {};
  Savings savings = all_but_micro_batches(planned);
  if (planned.graph.implementation == Implementation::eager)
    savings.push_back({k_own_operators,
                       k_comparison,
                       {BufferClass::activation, BufferClass::activation_gradient, BufferClass::workspace},
                       1,
                       Touches::operators});
  std::erase_if(savings, [&](const SettingToTry& each) { return could_free(each, *run.memory) <= 0; });
  add_allocator_saving(planned, *run.memory, savings);
  add_smaller_micro_batch(*planned.scenario.train, savings, [](const SettingToTry&) { return true; });
  return savings;
}

bool is_half(Bytes left, Bytes peak) {
  return static_cast<double>(left.value) <= k_left * static_cast<double>(peak.value);
}

}  // namespace shardlab
