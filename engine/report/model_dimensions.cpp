#include "engine/report/model_dimensions.h"

#include <algorithm>
#include <optional>

#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {
namespace {

bool is_matrix_of_model(const ModelGraph& graph, ParameterId id) {
  return !graph.is_teachers(id) && !graph.parameter(id).adapter && graph.parameter(id).shape.size() == 2;
}

bool is_inside(const ModelGraph& graph, ModuleId module, ModuleId outer) {
  for (std::optional<ModuleId> at = module; at; at = graph.module(*at).parent)
    if (*at == outer) return true;
  return false;
}

std::optional<ModuleId> first_layer(const ModelGraph& graph) {
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    const auto id = make_id<ModuleId>(i);
    if (!graph.is_teachers(id) && graph.modules[i].class_name == graph.block_class) return id;
  }
  return std::nullopt;
}

void add_embedding(const ModelGraph& graph, ModelDimensions& dimensions) {
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const Shape& shape = graph.parameters[i].shape;
    if (!is_matrix_of_model(graph, make_id<ParameterId>(i)) || shape[0] != graph.vocabulary) continue;
    dimensions.hidden = shape[1];
    return;
  }
}

void add_heads(const ModelGraph& graph, ModelDimensions& dimensions) {
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    const auto heads = op.attributes.find(attribute::k_heads);
    const bool attends = op.type->category == OperatorCategory::attention;
    if (!heads || !attends || graph.is_teachers(make_id<OperatorId>(i))) continue;
    dimensions.heads = *heads;
    dimensions.kv_heads = op.attributes.get_or(attribute::k_kv_heads, *heads);
    return;
  }
}

void add_feed_forward(const ModelGraph& graph, ModelDimensions& dimensions) {
  const std::optional<ModuleId> layer = first_layer(graph);
  if (!layer) return;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const auto id = make_id<ParameterId>(i);
    if (!is_matrix_of_model(graph, id) || !is_inside(graph, graph.parameter(id).module, *layer)) continue;
    const std::int64_t width = std::max(graph.parameter(id).shape[0], graph.parameter(id).shape[1]);
    if (width > dimensions.feed_forward) dimensions.feed_forward_matrices = 0;
    dimensions.feed_forward = std::max(dimensions.feed_forward, width);
    if (width == dimensions.feed_forward) ++dimensions.feed_forward_matrices;
  }
}

}  // namespace

ModelDimensions model_dimensions(const ModelGraph& graph) {
  ModelDimensions dimensions;
  dimensions.layers = graph.layers;
  dimensions.vocabulary = graph.vocabulary;
  dimensions.has_experts = has_experts(graph);
  add_embedding(graph, dimensions);
  add_heads(graph, dimensions);
  add_feed_forward(graph, dimensions);
  return dimensions;
}

}  // namespace shardlab
