#include "engine/model/model_graph.h"

#include <iterator>

#include <fmt/format.h>

#include "engine/base/hash.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

using Elements = std::int64_t (Parameter::*)() const;

std::int64_t sum_below(const ModelGraph& graph, const Module& module, Elements elements) {
  std::int64_t sum = 0;
  for (const ParameterId id : module.parameters) sum += (graph.parameter(id).*elements)();
  for (const ModuleId child : module.children) sum += sum_below(graph, graph.module(child), elements);
  return sum;
}

std::int64_t sum_of_a_layer(const ModelGraph& graph, Elements elements) {
  for (const Module& module : graph.modules) {
    if (module.class_name == graph.block_class) return sum_below(graph, module, elements);
  }
  return 0;
}

// Raw bytes of the structure: cheaper to make than text, and read by nobody but the hash.
class StructureText {
 public:
  void number(std::int64_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void number(double value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void word(std::string_view value) { text_.append(value).push_back('\0'); }
  template <typename Ids>
  void ids(const Ids& values) {
    number(static_cast<std::int64_t>(values.size()));
    for (const auto id : values) number(static_cast<std::int64_t>(id.value));
  }
  void shape(const Shape& values, DType dtype) {
    number(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t extent : values) number(extent);
    number(static_cast<std::int64_t>(dtype));
  }
  void attributes(const Attributes& values) {
    for (const AttributeValue& one : values.values()) {
      if (one.assumed) continue;
      word(one.name);
      number(one.value);
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

ModelGraph::ModelGraph() = default;
ModelGraph::ModelGraph(const ModelGraph&) = default;
ModelGraph::ModelGraph(ModelGraph&&) noexcept = default;
ModelGraph& ModelGraph::operator=(const ModelGraph&) = default;
ModelGraph& ModelGraph::operator=(ModelGraph&&) noexcept = default;
ModelGraph::~ModelGraph() = default;

std::int64_t total_parameters(const ModelGraph& graph) {
  std::int64_t sum = 0;
  for (const Parameter& parameter : graph.parameters) sum += parameter.model_elements();
  return sum;
}

std::int64_t stored_elements(const ModelGraph& graph) {
  std::int64_t sum = 0;
  for (const Parameter& parameter : graph.parameters) sum += parameter.elements();
  return sum;
}

std::int64_t trainable_parameters(const ModelGraph& graph) {
  std::int64_t sum = 0;
  for (const Parameter& parameter : graph.parameters) sum += parameter.trainable ? parameter.elements() : 0;
  return sum;
}

std::int64_t active_parameters(const ModelGraph& graph) {
  std::int64_t idle = 0;
  for (const Operator& op : graph.operators) {
    if (op.type != &k_grouped_linear) continue;
    const Parameter& weight = graph.parameter(op.parameters.front());
    idle +=
        weight.elements() / weight.shape[0] * (weight.shape[0] - op.attributes.get(attribute::k_per_token));
  }
  return total_parameters(graph) - idle;
}

std::int64_t parameters_per_layer(const ModelGraph& graph) {
  return sum_of_a_layer(graph, &Parameter::model_elements);
}

std::int64_t stored_elements_per_layer(const ModelGraph& graph) {
  return sum_of_a_layer(graph, &Parameter::elements);
}

std::string structure_hash(const ModelGraph& graph) {
  StructureText text;
  for (const Parameter& parameter : graph.parameters) {
    text.shape(parameter.shape, parameter.dtype);
    if (!parameter.trainable) text.word("frozen");
    if (!parameter.requires_grad) text.word("no_grad");
  }
  for (const Tensor& tensor : graph.tensors) {
    text.shape(tensor.shape, tensor.dtype);
    text.attributes(tensor.attributes);
  }
  for (const Operator& op : graph.operators) {
    text.word(op.type->name);
    text.ids(op.inputs);
    text.ids(op.outputs);
    text.ids(op.parameters);
    if (!op.extra_tensors.empty()) text.ids(op.extra_tensors);
    text.attributes(op.attributes);
  }
  return hash_hex(text.text());
}

}  // namespace shardlab
