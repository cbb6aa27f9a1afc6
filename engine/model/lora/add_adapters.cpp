#include "engine/model/lora/add_adapters.h"

#include <algorithm>
#include <utility>

#include "engine/model/freeze.h"
#include "engine/model/lora/adapter_tree.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

class Rewriter {
 public:
  Rewriter(const ModelGraph& old, const std::vector<Adaptation>& marks, const LoraSpec& spec)
      : old_(old),
        tree_(old, marks, spec),
        scale_(spec.alpha / spec.rank),
        rank_(spec.rank),
        dropout_(spec.dropout),
        graph_(tree_.take()),
        made_(old.tensors.size()) {}

  ModelGraph add_all() {
    keep_graph_inputs();
    for (const Operator& op : old_.operators) {
      const AdaptedModule& module = tree_.module(op.module);
      if (module.up && op.type == &k_linear)
        emit_adapted(op, module);
      else
        emit(op, module);
    }
    graph_.loss = made_[old_.loss.index()];
    derive_requires_grad(graph_);
    return std::move(graph_);
  }

 private:
  // Batches and constants have no producer; they stand before what operators make.
  void keep_graph_inputs() {
    std::vector<bool> is_made(old_.tensors.size(), false);
    for (const Operator& op : old_.operators) {
      for (const TensorId output : op.outputs) is_made[output.index()] = true;
    }
    for (std::size_t i = 0; i < old_.tensors.size(); ++i) {
      if (!is_made[i]) made_[i] = add_tensor(old_.tensors[i]);
    }
  }

  TensorId add_tensor(Tensor tensor) {
    graph_.tensors.push_back(std::move(tensor));
    return make_id<TensorId>(graph_.tensors.size() - 1);
  }

  // The operator with its inputs and parameters as they are called now, and its outputs still to be made.
  Operator translated(const Operator& old, ModuleId module) const {
    Operator op = old;
    op.module = module;
    op.outputs.clear();
    for (TensorId& input : op.inputs) input = made_[input.index()];
    for (ParameterId& parameter : op.parameters) parameter = tree_.parameter(parameter);
    return op;
  }

  void emit(const Operator& old, const AdaptedModule& module) {
    Operator op = translated(old, module.runs);
    for (const TensorId output : old.outputs) {
      made_[output.index()] = add_tensor(old_.tensor(output));
      op.outputs.push_back(made_[output.index()]);
    }
    graph_.operators.push_back(std::move(op));
  }

  // In the order of peft's forward: the layer, its input through A, that through B and added.
  void emit_adapted(const Operator& old, const AdaptedModule& module) {
    const Tensor& y = old_.tensor(old.outputs[0]);
    Operator base = translated(old, module.runs);
    TensorId x = base.inputs[0];
    const TensorId unadapted = add_tensor(named(y, "unadapted", y.shape.back()));
    base.outputs = {unadapted};
    graph_.operators.push_back(std::move(base));
    if (dropout_ > 0) x = emit_dropout(x, *module.dropout_module);
    const TensorId low = add_tensor(named(y, "low_rank", rank_));
    graph_.operators.push_back({&k_linear, *module.down_module, {x}, {low}, {*module.down}, {}});
    const TensorId adapted = made_[old.outputs[0].index()] = add_tensor(y);
    const bool eager = graph_.implementation == Implementation::eager;
    graph_.operators.push_back({eager ? k_linear_add.eager_type : &k_linear_add,
                                *module.up_module,
                                {unadapted, low},
                                {adapted},
                                {*module.up},
                                {{attribute::k_scale, scale_}}});
  }

  TensorId emit_dropout(TensorId x, ModuleId module) {
    const Tensor& input = graph_.tensor(x);
    const TensorId dropped = add_tensor(named(input, "dropped", input.shape.back()));
    graph_.operators.push_back({&k_dropout, module, {x}, {dropped}, {}, {{attribute::k_dropout, dropout_}}});
    return dropped;
  }

  static Tensor named(Tensor tensor, std::string_view label, std::int64_t width) {
    tensor.label = label;
    tensor.shape.back() = width;
    return tensor;
  }

  const ModelGraph& old_;
  AdapterTree tree_;
  const double scale_;
  const std::int64_t rank_;
  const double dropout_;
  ModelGraph graph_;
  std::vector<TensorId> made_;  // by old TensorId
};

}  // namespace

Result<ModelGraph> add_adapters(ModelGraph graph, const LoraSpec& spec) {
  if (spec.rank == 0) return graph;
  SHARDLAB_TRY(const std::vector<Adaptation> marks, adapted_modules(graph, spec));
  return Rewriter(graph, marks, spec).add_all();
}

bool has_adapters(const ModelGraph& graph) {
  return std::any_of(graph.parameters.begin(), graph.parameters.end(),
                     [](const Parameter& parameter) { return parameter.adapter; });
}

}  // namespace shardlab
