// Which arguments of a command are TrainingArguments, and whether they show that its program is the
// Trainer's.
#pragma once

#include <string>

#include "engine/formats/foreign/known_keys.h"
#include "engine/formats/launchers/launch_script.h"

namespace shardlab {

// Whether the word names a file of arguments by its ending: JSON or YAML.
bool is_arguments_file(const std::string& text);

// The argument of that name in either version of transformers; null: there is none.
const KnownKey* argument_key(const std::string& name);

// Names of older versions, which are renamed later.
bool is_old_argument(const std::string& name);

// Whether a program's arguments are those of the Trainer: its command is that of ms-swift or its like, or
// they say the batch by its name, or a folder beside something that no other program has.
bool takes_training_arguments(const LaunchScript& script);

}  // namespace shardlab
