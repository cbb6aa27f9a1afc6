#include "engine/formats/transformers/trainer_warmup.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace shardlab {

TrainerWarmup trainer_warmup(const ImportSubject& s) {
  constexpr double k_most_steps = 1e15;  // whoever writes more may mean anything
  const ForeignValue* const steps = s.in_trainer("warmup_steps");
  const ForeignValue* const ratio = s.in_trainer("warmup_ratio");
  TrainerWarmup warmup;
  double amount = steps == nullptr ? 0 : steps->number;
  if (amount == 0 && ratio != nullptr) {
    amount = ratio->number;
    warmup.key = "warmup_ratio";
  }
  if (amount >= 1 || amount <= 0) {
    warmup.steps = static_cast<std::int64_t>(std::clamp(amount, -k_most_steps, k_most_steps));
    return warmup;
  }
  const ForeignValue* const total = s.in_trainer("max_steps");
  if (total == nullptr || !total->is_integer() || total->integer <= 0)
    warmup.steps.reset();
  else
    warmup.steps = static_cast<std::int64_t>(
        std::ceil(amount * std::min(static_cast<double>(total->integer), k_most_steps)));
  return warmup;
}

std::string why_no_warmup_steps(const ImportSubject& s, const TrainerWarmup& warmup) {
  const ForeignValue* const said = s.in_trainer(warmup.key);
  return fmt::format(
      "{} {} is a part of the training's steps, which follow from the length of the data; "
      "max_steps says them",
      warmup.key, said == nullptr ? "" : shown(*said));
}

}  // namespace shardlab
