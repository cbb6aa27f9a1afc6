// Axolotl's fsdp, fsdp_config and fsdp_version as TrainingArguments have them. Private to this folder.
#pragma once

#include <string>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// Whether Axolotl's own code shards the model, in place of accelerate's: under version 2 the layers and the
// root alone are units, and parameters keep the dtype in which they were loaded.
bool shards_itself(const ForeignValue& file);

// Adds `fsdp` and `fsdp_config` to the arguments where the file asks for either; else nothing. `model_class`
// is that of the whole model; empty: it is not known.
void add_axolotl_fsdp(const ForeignValue& file, const std::string& model_class, ForeignValue& arguments,
                      ImportReading& reading);

// Degrees of parallelism: those of data are the mesh of FSDP2, others are lost.
void read_axolotl_degrees(const ForeignValue& file, ImportReading& reading);

}  // namespace shardlab
