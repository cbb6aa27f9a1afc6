#include "engine/formats/profiler/seen_model.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace shardlab {
namespace {

// "layers" of "layers.0"; empty for what is no item of a list.
std::string container_of(const std::string& module) {
  const std::size_t dot = module.rfind('.');
  if (dot == std::string::npos || dot + 1 == module.size()) return {};
  const std::string_view last = std::string_view(module).substr(dot + 1);
  return last.find_first_not_of("0123456789") == std::string_view::npos ? module.substr(0, dot) : "";
}

// Endings of the classes of layers, the surest first: an expert's block is as frequent as its layer.
constexpr std::array<std::string_view, 3> k_endings = {"DecoderLayer", "Layer", "Block"};

int rank_of(const std::string& name) {
  for (std::size_t i = 0; i < k_endings.size(); ++i)
    if (name.ends_with(k_endings[i])) return static_cast<int>(i);
  return static_cast<int>(k_endings.size());
}

// The class that has `layers` modules, or the most where that is not known.
std::string layer_class(const std::map<std::string, int>& classes, int layers) {
  std::string best;
  const auto is_better = [&](const std::string& name, int count) {
    if (best.empty()) return true;
    if (rank_of(name) != rank_of(best)) return rank_of(name) < rank_of(best);
    return count > classes.at(best);
  };
  for (const auto& [name, count] : classes) {
    const bool fits = layers > 0 ? count == layers : count > 1;
    if (fits && rank_of(name) < static_cast<int>(k_endings.size()) && is_better(name, count)) best = name;
  }
  return best;
}

// "Llama" of "LlamaDecoderLayer".
std::string family_of(std::string_view name) {
  for (const std::string_view ending : k_endings)
    if (name.ends_with(ending)) return std::string(name.substr(0, name.size() - ending.size()));
  return std::string(name);
}

// Before the number as it is spoken.
std::string_view article(int number) {
  const bool eighties = number == 8 || (number >= 80 && number < 90) || (number >= 800 && number < 900);
  return eighties || number == 11 || number == 18 ? "an" : "a";
}

}  // namespace

std::string SeenModel::words() const {
  if (layers == 0) return "a model";
  const std::string family = family_of(layer_class);
  if (!family.empty()) return fmt::format("{} {}-layer {}", article(layers), layers, family);
  return container.empty() ? fmt::format("a model of {} layers", layers)
                           : fmt::format("a model of {} layers ({})", layers, container);
}

SeenModel seen_model(const SeenMarks& marks) {
  SeenModel model;
  std::map<std::string, int> containers;
  for (const SeenUnit& unit : marks.units)
    if (const std::string its = container_of(unit.module); !its.empty()) ++containers[its];
  for (const auto& [name, count] : containers) {
    if (count <= model.layers) continue;
    model.layers = count;
    model.container = name;
  }
  const bool has_root = std::any_of(marks.units.begin(), marks.units.end(),
                                    [](const SeenUnit& each) { return each.module == "root"; });
  model.others_wrapped = std::ssize(marks.units) > model.layers + (has_root ? 1 : 0);
  model.layer_class = layer_class(marks.classes, model.layers);
  if (model.layers == 0 && !model.layer_class.empty()) model.layers = marks.classes.at(model.layer_class);
  return model;
}

}  // namespace shardlab
