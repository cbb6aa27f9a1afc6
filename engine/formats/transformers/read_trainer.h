// TrainingArguments of transformers' Trainer as settings of a scenario: version 5, and the form of 4.57.
//
// Source: transformers 5.23.0 and 4.57.6, training_args.py, trainer.py; accelerate 1.15.0 below them.
#pragma once

#include <string_view>

#include "engine/formats/tools/import_subject.h"
#include "engine/scenario/problems.h"

namespace shardlab {

// "transformers" or "transformers-4" (known_keys.h), by the keys and by the form of `fsdp`. A complaint where
// keys of both stand together.
std::string_view trainer_version(const ForeignValue& arguments, Problems& problems);

void check_trainer(const ImportSubject& subject, Problems& problems, ImportReading& reading);
void read_trainer(const ImportSubject& subject, ImportReading& reading);

}  // namespace shardlab
