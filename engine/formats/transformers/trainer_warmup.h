// The warm-up of the learning rate as TrainingArguments say it: steps, or a part of the training.
//
// Source: transformers 5.23.0 and 4.57.6, training_args.py (get_warmup_steps).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/formats/tools/import_subject.h"

namespace shardlab {

struct TrainerWarmup {
  // Nothing where it is a part of a training whose number of steps no file says.
  std::optional<std::int64_t> steps = 0;
  std::string_view key = "warmup_steps";  // of TrainingArguments, that says it
};
TrainerWarmup trainer_warmup(const ImportSubject& subject);

// Why a part of the training gives no steps.
std::string why_no_warmup_steps(const ImportSubject& subject, const TrainerWarmup& warmup);

}  // namespace shardlab
