// What a trace's names say about the model. Private to this folder.
#pragma once

#include <string>

#include "engine/formats/profiler/seen_marks.h"

namespace shardlab {

struct SeenModel {
  int layers = 0;               // 0: not seen
  std::string container;        // "model.layers", of which they are items; empty: by their class alone
  std::string layer_class;      // "LlamaDecoderLayer"; empty: stacks were not recorded
  bool others_wrapped = false;  // FSDP2 wraps modules that are neither layers nor the root

  std::string words() const;  // "a 6-layer Llama", "a model of 6 layers (model.layers)", "a model"
};

SeenModel seen_model(const SeenMarks& marks);

}  // namespace shardlab
