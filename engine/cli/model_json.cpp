#include "engine/cli/model_json.h"

#include <nlohmann/json.hpp>

#include "engine/model/operators/operator_type.h"

namespace shardlab {
namespace {

// Sums over the graph with the tensors already kept marked.
class Figures {
 public:
  explicit Figures(const ModelGraph& graph) : graph_(graph), kept_(graph.tensors.size(), false) {}

  OperatorFigures of(OperatorId id) {
    const Operator& op = graph_.op(id);
    const OperatorDescription description = describe_operator(graph_, op);
    OperatorFigures figures;
    figures.op = id;
    for (const Work& work : description.forward) {
      figures.forward_flops += work.flops;
      figures.forward_bytes += work.bytes;
    }
    for (const Work& work : description.backward) {
      figures.backward_flops += work.flops;
      figures.backward_bytes += work.bytes;
    }
    figures.keeps = keep(op.inputs, description.saved_inputs) + keep(op.outputs, description.saved_outputs);
    for (const ExtraTensor& extra :
         description.has_backward ? description.extras : std::vector<ExtraTensor>{})
      figures.keeps += bytes_of(element_count(extra.shape), extra.dtype);
    return figures;
  }

 private:
  Bytes keep(const std::vector<TensorId>& tensors, InputMask mask) {
    Bytes sum;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor& tensor = graph_.tensor(tensors[i]);
      if ((mask >> i & 1u) == 0 || tensor.role == TensorRole::constant || kept_[tensors[i].index()]) continue;
      kept_[tensors[i].index()] = true;
      sum += tensor.bytes();
    }
    return sum;
  }

  const ModelGraph& graph_;
  std::vector<bool> kept_;  // by TensorId
};

Json parameter_json(const ModelGraph& graph, ParameterId id, ModuleId module) {
  const Parameter& parameter = graph.parameter(id);
  return {{"name", parameter.name},
          {"shape", parameter.shape},
          {"dtype", to_string(parameter.dtype)},
          {"tied", parameter.module != module}};
}

Json modules_json(const ModelGraph& graph) {
  Json modules = Json::array();
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    const Module& module = graph.modules[i];
    Json parameters = Json::array();
    for (const ParameterId id : module.parameters)
      parameters.push_back(parameter_json(graph, id, make_id<ModuleId>(i)));
    modules.push_back(
        {{"path", module.path}, {"class", module.class_name}, {"parameters", std::move(parameters)}});
  }
  return modules;
}

Json operators_json(const ModelGraph& graph) {
  Json operators = Json::array();
  for (const OperatorFigures& figures : operator_figures(graph)) {
    const Operator& op = graph.op(figures.op);
    Json outputs = Json::array();
    for (const TensorId id : op.outputs) outputs.push_back(graph.tensor(id).shape);
    operators.push_back({{"id", figures.op.value},
                         {"kind", op.type->name},
                         {"module", graph.module(op.module).path},
                         {"outputs", std::move(outputs)},
                         {"forward_flops", figures.forward_flops.value},
                         {"backward_flops", figures.backward_flops.value},
                         {"forward_bytes", figures.forward_bytes.value},
                         {"backward_bytes", figures.backward_bytes.value},
                         {"keeps_bytes", figures.keeps.value}});
  }
  return operators;
}

}  // namespace

std::vector<OperatorFigures> operator_figures(const ModelGraph& graph) {
  Figures figures(graph);
  std::vector<OperatorFigures> all;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) all.push_back(figures.of(make_id<OperatorId>(i)));
  return all;
}

Json model_document(const ModelGraph& graph) {
  const std::int64_t total = total_parameters(graph);
  return {{"family", graph.family},
          {"parameters",
           {{"total", total},
            {"active", active_parameters(graph)},
            {"per_layer", parameters_per_layer(graph)},
            {"trainable", trainable_parameters(graph)}}},
          {"layers", graph.layers},
          {"vocabulary", graph.vocabulary},
          {"micro_batch", graph.micro_batch},
          {"sequence_length", graph.sequence_length},
          {"compute_dtype", to_string(graph.compute_dtype)},
          {"graph_hash", structure_hash(graph)},
          {"modules", modules_json(graph)},
          {"operators", operators_json(graph)}};
}

}  // namespace shardlab
