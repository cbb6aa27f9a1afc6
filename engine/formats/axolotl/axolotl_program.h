// What Axolotl's file says beside TrainingArguments, in the words of other programs. Private to this folder.
#pragma once

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// Adapters, weights in few bits and the length of a sequence, added to `own`.
void add_axolotl_program(const ForeignValue& file, ForeignValue& own, ImportReading& reading);

}  // namespace shardlab
