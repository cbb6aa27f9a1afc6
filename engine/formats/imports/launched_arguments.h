// What a launch script says in the words of accelerate's file and of TrainingArguments.
#pragma once

#include <optional>

#include "engine/formats/launchers/launch_script.h"

namespace shardlab {

// Files that the command names, as texts with their places.
struct LaunchedFiles {
  std::optional<ForeignValue> accelerate;  // --config_file of accelerate launch
  std::optional<ForeignValue> trainer;     // the program's argument: a .json or .yaml of TrainingArguments
  bool may_be_another = false;  // of trainer: --config, which other programs take for files of theirs
  std::optional<ForeignValue> deepspeed;  // --deepspeed_config of a program that calls DeepSpeed itself
};
LaunchedFiles files_named_by(const LaunchScript& script);

// Whether the program calls DeepSpeed itself: --deepspeed without a file, or --deepspeed_config.
bool calls_deepspeed(const LaunchScript& script);

// Adds the program's arguments that TrainingArguments have to `arguments`, others to `own`. An argument that
// is nearly one of them is a complaint.
Status add_launched_arguments(const LaunchScript& script, ForeignValue& arguments, ForeignValue& own,
                              Problems& problems, ImportReading& reading);

// Puts the options of `accelerate launch` over what its file says. What a variable says that the script does
// not set is known when it runs: here and above it is left to --onto, and told. Errors: not_possible where
// the tool's keys are not installed; what the user wrote goes to `problems`.
Status add_launch_options(const LaunchScript& script, ForeignValue& file, Problems& problems,
                          ImportReading& reading);

}  // namespace shardlab
