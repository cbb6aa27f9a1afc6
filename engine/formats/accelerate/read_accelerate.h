// accelerate's configuration file as settings of a scenario.
//
// Source: accelerate 1.15.0, commands/launch.py (_validate_launch_command), utils/launch.py,
// utils/dataclasses.py (DeepSpeedPlugin), parallelism_config.py.
#pragma once

#include <optional>
#include <string>

#include "engine/formats/tools/import_subject.h"
#include "engine/scenario/problems.h"

namespace shardlab {

// What contradicts what, with the places; what is legal and does not do what it says goes into the warnings.
void check_accelerate(const ImportSubject& subject, Problems& problems, ImportReading& reading);

// Reads a file that check_accelerate() found good. Under ZeRO what DeepSpeed is told stands in the file that
// this one names, or in plugin_config().
void read_accelerate(const ImportSubject& subject, ImportReading& reading);

// The configuration that the DeepSpeed plugin makes of the keys of `deepspeed_config`.
ForeignValue plugin_config(const ImportSubject& subject);

// `deepspeed_config_file`; null where there is none.
const ForeignValue* deepspeed_file_key(const ImportSubject& subject);

}  // namespace shardlab
