#include "engine/checkpoint/published_names.h"

namespace shardlab {
namespace {

// What a family's files call the block around router and experts, and the weights of one expert.
struct ExpertNames {
  std::string block, gate, up, down;
};

ExpertNames names_of(const std::string& family) {
  if (family == "mixtral") return {"block_sparse_moe", "w1", "w3", "w2"};
  return {"mlp", "gate_proj", "up_proj", "down_proj"};
}

// "model.layers.0." of "model.layers.0.mlp.experts.down_proj", when the name ends with the rest.
bool ends_with_block(const std::string& name, const std::string& rest, std::string& before) {
  if (!name.ends_with(".mlp." + rest)) return false;
  before = name.substr(0, name.size() - rest.size() - 4);
  return true;
}

}  // namespace

std::vector<PublishedTensor> published_tensors(const ModelGraph& graph, const Parameter& parameter) {
  const ExpertNames names = names_of(graph.family);
  std::vector<PublishedTensor> tensors;
  std::string layer;
  if (graph.family == "mixtral" && ends_with_block(parameter.name, "gate.weight", layer))
    return {{layer + names.block + ".gate.weight", parameter.shape, 0}};
  const bool gate_up = ends_with_block(parameter.name, "experts.gate_up_proj", layer);
  if (!gate_up && !ends_with_block(parameter.name, "experts.down_proj", layer)) return {};
  const std::int64_t rows = parameter.shape[1] / (gate_up ? 2 : 1), columns = parameter.shape[2];
  std::int64_t first = 0;
  const auto add = [&](const std::string& name) {
    tensors.push_back({name + ".weight", {rows, columns}, first});
    first += rows * columns;
  };
  for (std::int64_t expert = 0; expert < parameter.shape[0]; ++expert) {
    const std::string base = layer + names.block + ".experts." + std::to_string(expert) + ".";
    if (gate_up) {
      add(base + names.gate);
      add(base + names.up);
    } else {
      add(base + names.down);
    }
  }
  return tensors;
}

}  // namespace shardlab
