// Places in a model as people call them: "layer 3", "the teacher's layer 3 mlp", "lm_head".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shardlab {

// The first number in a module's path counts the layers, in every family: model.layers.3, transformer.h.3,
// transformer.blocks.3.
struct ModelPlace {
  bool teachers = false;
  std::optional<int> layer;
  std::string rest;      // within the layer, or the whole path where there is no layer; empty: all of it
  bool article = false;  // `rest` is an English noun ("head") and no name of a module
  std::string part;      // "part 1 of 2" of what is cut; else empty

  friend bool operator==(const ModelPlace&, const ModelPlace&) = default;
};

// Reads the path of a unit or a module: empty or "." is the model itself, a plus joins several modules.
ModelPlace place_of(std::string_view module_path);

std::string to_words(const ModelPlace& place);

// "31 layers", "mlp of 31 layers", "31 layers of the teacher": places that differ only by the number of their
// layer.
std::string to_words(const ModelPlace& one, int layers);

}  // namespace shardlab
