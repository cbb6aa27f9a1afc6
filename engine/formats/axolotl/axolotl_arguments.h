// A configuration of Axolotl in the words of TrainingArguments, and of arguments that programs on top of the
// Trainer have.
//
// Source: axolotl 0.18.0, core/builders/base.py, loaders/model.py, utils/config, utils/trainer.py.
#pragma once

#include <string>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// By keys that no other tool has beside base_model.
bool is_axolotl(const ForeignValue& root);

struct AxolotlArguments {
  ForeignValue arguments;  // of transformers 5
  ForeignValue own;        // assets/formats/programs.yaml says what they mean
};

// `file`: its keys are checked. What neither of the two says becomes settings and differences of the reading;
// what Axolotl takes where the file says nothing is warned of.
// `model_class` is that of the whole model; empty: it is not known.
AxolotlArguments axolotl_arguments(const ForeignValue& file, const std::string& model_class,
                                   ImportReading& reading);

}  // namespace shardlab
