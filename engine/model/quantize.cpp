#include "engine/model/quantize.h"

#include <set>

#include <fmt/format.h>

#include "engine/model/head.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

constexpr const char* k_class = "Linear4bit";
constexpr std::int64_t k_elements_a_byte = 2;
constexpr std::int64_t k_elements_a_scale = 64;
constexpr std::int64_t k_scales_a_scale = 256;

std::int64_t rounded_up(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}

bool is_quantized(const ModelGraph& graph, const Operator& op) {
  if (op.type != &k_linear || is_head(graph.module(op.module))) return false;
  const Parameter& weight = graph.parameter(op.parameters[0]);
  const std::string& class_name = graph.module(op.module).class_name;
  return !weight.trainable && !weight.adapter && (class_name == "Linear" || class_name == "Conv1D");
}

class Pass {
 public:
  Pass(ModelGraph& graph, Quantization quantization) : graph_(graph), quantization_(quantization) {}

  Status convert(Operator& op) {
    Parameter& weight = graph_.parameters[op.parameters[0].index()];
    if (weight.packed_elements == 0) SHARDLAB_CHECK_OK(pack(weight));
    const std::int64_t scales = rounded_up(weight.packed_elements, k_elements_a_scale);
    const bool is_double = quantization_ == Quantization::nf4_double;
    op.attributes.set(attribute::k_quantized, quantization_);
    made_.insert(op.outputs[0]);
    rename(op.module);
    op.inputs.push_back(constant("scales", scales, is_double ? DType::uint8 : DType::float32));
    if (is_double)
      op.inputs.push_back(constant("scales_of_scales", rounded_up(scales, k_scales_a_scale), DType::float32));
    return {};
  }

  // peft copies what a layer in four bits made before it adds to it.
  void clone_for_adapter(Operator& op) const {
    if (op.type == &k_eager_linear_add && made_.contains(op.inputs[0]))
      op.attributes.set(attribute::k_cloned, true);
  }

 private:
  // As bitsandbytes calls the layer, and peft what it puts around one.
  void rename(ModuleId id) {
    Module& module = graph_.modules[id.index()];
    module.class_name = k_class;
    if (module.path.ends_with(".base_layer")) graph_.modules[module.parent->index()].class_name = k_class;
  }

  static Status pack(Parameter& weight) {
    const std::int64_t elements = weight.elements();
    const std::int64_t each = k_elements_a_byte * static_cast<std::int64_t>(element_size(weight.dtype));
    if (elements % each != 0)
      return bad_input("model.quantized",
                       fmt::format("the {} elements of {} are no multiple of {}, which share one of {}",
                                   elements, weight.name, each, to_string(weight.dtype)),
                       "none");
    weight.packed_elements = elements;
    weight.shape = {elements / each, 1};
    return {};
  }

  TensorId constant(std::string_view label, std::int64_t elements, DType dtype) {
    graph_.tensors.push_back({label, {elements}, dtype, TensorRole::constant, false, {}});
    return make_id<TensorId>(graph_.tensors.size() - 1);
  }

  ModelGraph& graph_;
  Quantization quantization_;
  std::set<TensorId> made_;
};

}  // namespace

Status quantize_frozen_weights(ModelGraph& graph, Quantization quantization) {
  if (quantization == Quantization::none) return {};
  Pass pass(graph, quantization);
  bool any = false;
  for (Operator& op : graph.operators) {
    pass.clone_for_adapter(op);
    if (!is_quantized(graph, op)) continue;
    SHARDLAB_CHECK_OK(pass.convert(op));
    any = true;
  }
  if (any) return {};
  return bad_input("model.quantized", "this model has no frozen linear layer beside its head",
                   "leave it out");
}

}  // namespace shardlab
