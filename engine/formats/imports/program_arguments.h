// What programs take beside TrainingArguments: their own arguments, of which a table says what they mean
// (assets/formats/programs.yaml).
#pragma once

#include <string>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// Whether the table knows the name.
bool is_program_argument(const std::string& name);

// Whether the name is nearly one of TrainingArguments: two letters at most are others.
bool is_misspelt_argument(const std::string& name, const std::string& near);

// The nearest name of TrainingArguments, of either version; empty: none is near.
std::string nearest_argument(const std::string& name);

// Whether TrainingArguments have the name and it takes no text, but a number.
bool is_number_argument(const std::string& name);

// Moves what TrainingArguments do not have from `arguments` to `own`, where the file holds other arguments
// that the table knows; a name that is nearly one of TrainingArguments stays and is refused there.
void move_program_arguments(ForeignValue& arguments, ForeignValue& own);

// Settings of a program's own arguments, and the differences.
void read_program_arguments(const ForeignValue& own, ImportReading& reading);

}  // namespace shardlab
