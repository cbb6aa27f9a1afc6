#include "engine/model/checkpoint_regions.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/model/operators/operator_type.h"

namespace shardlab {
namespace {

bool is_inside(const ModelGraph& graph, ModuleId module, ModuleId ancestor) {
  for (std::optional<ModuleId> id = module; id; id = graph.module(*id).parent) {
    if (*id == ancestor) return true;
  }
  return false;
}

// What autograd saves of an operator. Weights count: they are packed like other tensors, only not made again.
struct Saves {
  bool anything = false;
  bool made_here = false;  // outputs, or tensors made for backward alone
};

Saves saves_of(const ModelGraph& graph, const Operator& op) {
  const OperatorDescription description = describe_operator(graph, op);
  if (!description.has_backward) return {};
  Saves saves;
  saves.made_here = description.saved_outputs != 0 || !description.extras.empty();
  const bool reads_weights = !op.parameters.empty() &&
                             std::any_of(op.inputs.begin(), op.inputs.end(),
                                         [&](TensorId input) { return graph.tensor(input).requires_grad; });
  saves.anything = saves.made_here || description.saved_inputs != 0 || reads_weights;
  return saves;
}

// Operators of the module run one after the other.
Result<CheckpointRegion> find_range(const ModelGraph& graph, ModuleId module) {
  CheckpointRegion region;
  region.module = module;
  bool found = false;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    if (!is_inside(graph, graph.operators[i].module, module)) continue;
    const auto id = make_id<OperatorId>(i);
    if (found && region.end != id) {
      return not_possible("activation.checkpoint",
                          "the operators of " + graph.module(module).path + " do not run together");
    }
    if (!found) region.begin = id;
    region.end = make_id<OperatorId>(i + 1);
    found = true;
  }
  return region;
}

bool is_input(const ModelGraph& graph, const CheckpointRegion& region, TensorId tensor) {
  for (OperatorId id = region.begin; id < region.end; ++id.value) {
    const auto& outputs = graph.op(id).outputs;
    if (std::find(outputs.begin(), outputs.end(), tensor) != outputs.end()) return false;
  }
  return true;
}

bool gradient_enters(const ModelGraph& graph, const CheckpointRegion& region) {
  for (OperatorId id = region.begin; id < region.end; ++id.value) {
    for (const TensorId input : graph.op(id).inputs) {
      if (graph.tensor(input).requires_grad && is_input(graph, region, input)) return true;
    }
  }
  return false;
}

Status check_reentrant(const ModelGraph& graph, const CheckpointRegion& region) {
  if (gradient_enters(graph, region)) return {};
  return bad_input(
      "activation.reentrant",
      fmt::format(
          "no gradient flows into {}: everything below is frozen. PyTorch's reentrant checkpoint then leaves "
          "its parameters without gradients",
          graph.module(region.module).path),
      "set activation.reentrant: false, or train what is below");
}

}  // namespace

Result<std::vector<CheckpointRegion>> checkpoint_regions(const ModelGraph& graph, int every, bool around_unit,
                                                         bool reentrant) {
  std::vector<CheckpointRegion> regions;
  int layer = 0;
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    if (graph.modules[i].class_name != graph.block_class || ++layer % every != 0) continue;
    SHARDLAB_TRY(CheckpointRegion region, find_range(graph, make_id<ModuleId>(i)));
    bool saves_anything = false;
    for (OperatorId id = region.begin; id < region.end; ++id.value) {
      const Saves saves = saves_of(graph, graph.op(id));
      if (!saves.anything) continue;
      saves_anything = true;
      region.trigger = id;
      region.stop = saves.made_here ? OperatorId{id.value + 1} : id;
    }
    if (!saves_anything) continue;
    region.around_unit = around_unit;
    if (reentrant) {
      SHARDLAB_CHECK_OK(check_reentrant(graph, region));
      region.stop = region.end;
      region.trigger = OperatorId{region.end.value - 1};
      region.reentrant = true;
    }
    regions.push_back(region);
  }
  if (layer < every) {
    return bad_input("activation.every",
                     fmt::format("the model has {} layers, none is the {}th", layer, every),
                     fmt::format("at most {}", layer));
  }
  return regions;
}

}  // namespace shardlab
