// DeepSpeed's configuration file as settings of a scenario.
//
// Source: DeepSpeed 0.19.8, runtime/config.py, runtime/zero/config.py, runtime/lr_schedules.py,
// runtime/engine.py (_configure_basic_optimizer).
#pragma once

#include "engine/formats/tools/import_subject.h"
#include "engine/scenario/problems.h"

namespace shardlab {

// What contradicts what, with the places; what is legal and does not do what it says goes into the warnings.
// `subject.deepspeed` is the file.
void check_deepspeed(const ImportSubject& subject, Problems& problems, ImportReading& reading);

// Reads a file that check_deepspeed() found good.
void read_deepspeed(const ImportSubject& subject, ImportReading& reading);

}  // namespace shardlab
