#include "engine/model/precision/assign_precision.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/precision/unit_borders.h"

namespace shardlab {
namespace {

// One dtype everywhere and no cast of an output that would change something.
bool is_uniform(const ModelGraph& graph, const std::map<ModuleId, UnitPrecision>& units) {
  return std::all_of(units.begin(), units.end(), [&](const auto& entry) {
    const UnitPrecision& precision = entry.second;
    return precision.param == graph.compute_dtype &&
           precision.output.value_or(graph.compute_dtype) == graph.compute_dtype;
  });
}

// torch.promote_types of two floating-point dtypes.
DType promoted(DType a, DType b) {
  if (a == b) return a;
  return a == DType::float64 || b == DType::float64 ? DType::float64 : DType::float32;
}

class Rewriter {
 public:
  Rewriter(const ModelGraph& old, const std::map<ModuleId, UnitPrecision>& units,
           std::span<const JoinedModules> joined, std::optional<DType> autocast)
      : old_(old),
        units_(units),
        borders_(old, units, joined),
        autocast_(autocast),
        made_(old.tensors.size()),
        graph_(old) {
    graph_.tensors.clear();
    graph_.operators.clear();
  }

  Result<ModelGraph> assign() {
    keep_graph_inputs();
    for (std::size_t i = 0; i < old_.operators.size(); ++i) {
      const auto op = make_id<OperatorId>(i);
      for (const ModuleId unit : borders_.entered_at(op)) cast_inputs(unit);
      SHARDLAB_CHECK_OK(emit(op));
      for (const ModuleId unit : borders_.left_at(op)) cast_outputs(unit);
    }
    graph_.loss = *made_[old_.loss.index()];
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

  DType dtype_of(TensorId made) const { return graph_.tensor(made).dtype; }

  // The new tensor as code between the units `scope` (innermost first) sees the old one: cast where it left
  // units that do not hold the scope, then where it entered the scope's units that do not hold its producer.
  TensorId version(TensorId old, std::span<const ModuleId> scope) const {
    const std::span<const ModuleId> home = borders_.units_around(old);
    const auto lies_in = [](std::span<const ModuleId> units, ModuleId unit) {
      return std::find(units.begin(), units.end(), unit) != units.end();
    };
    TensorId made = *made_[old.index()];
    for (const ModuleId unit : home) {
      const auto cast = leaving_.find({unit, old});
      if (!lies_in(scope, unit) && cast != leaving_.end()) made = cast->second;
    }
    for (auto unit = scope.rbegin(); unit != scope.rend(); ++unit) {
      const auto cast = entering_.find({*unit, old});
      if (!lies_in(home, *unit) && cast != entering_.end()) made = cast->second;
    }
    return made;
  }

  std::span<const ModuleId> outside(ModuleId unit) const {
    return std::span<const ModuleId>(borders_.units_around(unit)).subspan(1);
  }

  void cast_inputs(ModuleId unit) {
    const UnitPrecision& precision = units_.at(unit);
    if (!precision.cast_inputs) return;
    for (const TensorId input : borders_.inputs_of(unit)) {
      if (!made_[input.index()]) continue;  // made while the unit runs already: no argument of its forward
      const TensorId seen = version(input, outside(unit));
      if (dtype_of(seen) != precision.param) entering_[{unit, input}] = add_cast(seen, precision.param, unit);
    }
  }

  void cast_outputs(ModuleId unit) {
    const UnitPrecision& precision = units_.at(unit);
    if (!precision.output) return;
    for (const TensorId output : borders_.outputs_of(unit)) {
      const TensorId seen = version(output, borders_.units_around(unit));
      if (dtype_of(seen) != *precision.output)
        leaving_[{unit, output}] = add_cast(seen, *precision.output, unit);
    }
  }

  TensorId add_cast(TensorId from, DType dtype, ModuleId module) {
    Tensor tensor = graph_.tensor(from);
    tensor.dtype = dtype;
    const TensorId to = add_tensor(std::move(tensor));
    graph_.operators.push_back({&k_cast, module, {from}, {to}, {}, {}});
    return to;
  }

  DType parameter_dtype(ParameterId id) const {
    return units_.at(borders_.units_around(old_.parameter(id).module).front()).param;
  }

  Status emit(OperatorId id) {
    Operator op = old_.op(id);
    for (TensorId& input : op.inputs) input = version(input, borders_.units_around(id));
    if (op.type == &k_add && !autocast_) promote_addends(op);
    SHARDLAB_TRY(const DType dtype, autocast_ ? autocast_dtype(op) : operator_dtype(op));
    for (TensorId& output : op.outputs) {
      Tensor tensor = old_.tensor(output);
      const bool fixed = output == old_.loss || tensor.role == TensorRole::statistic;
      if (!fixed && is_floating_point(tensor.dtype)) tensor.dtype = dtype;
      made_[output.index()] = add_tensor(std::move(tensor));
      output = *made_[output.index()];
    }
    graph_.operators.push_back(std::move(op));
    return {};
  }

  void promote_addends(Operator& op) {
    const DType sum = promoted(dtype_of(op.inputs[0]), dtype_of(op.inputs[1]));
    for (TensorId& input : op.inputs) {
      if (dtype_of(input) != sum) input = add_cast(input, sum, op.module);
    }
  }

  // What autocast makes of the operator, whose inputs and attributes change: the dtype of what it makes.
  Result<DType> autocast_dtype(Operator& op) {
    const bool low = op.attributes.get_or(attribute::k_low_precision, false);
    const AutocastRule rule = low ? AutocastRule::lower : op.type->autocast;
    if (rule == AutocastRule::widest) return widest_dtype(op);
    if (rule == AutocastRule::widens) return DType::float32;
    if (rule == AutocastRule::undescribed) return refuse_autocast(op);
    const DType dtype = rule == AutocastRule::lower ? *autocast_ : DType::float32;
    for (TensorId& input : op.inputs) {
      const Tensor& tensor = graph_.tensor(input);
      if (tensor.role != TensorRole::activation || !is_floating_point(tensor.dtype)) continue;
      if (tensor.dtype != dtype) input = add_cast(input, dtype, op.module);
    }
    if (op.parameters.empty() || parameter_dtype(op.parameters.front()) == dtype) return dtype;
    if (!op.type->casts_parameters) return refuse_autocast(op);
    op.attributes.set(attribute::k_parameter_dtype, parameter_dtype(op.parameters.front()));
    return dtype;
  }

  // By type promotion. An operator on activations and parameters is described for one dtype of both.
  Result<DType> widest_dtype(const Operator& op) const {
    std::optional<DType> widest;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const Tensor& tensor = graph_.tensor(op.inputs[i]);
      const bool counts = tensor.role == TensorRole::activation ||
                          (op.type->promotes_with_table && tensor.role == TensorRole::constant);
      if (!counts || !is_floating_point(tensor.dtype)) continue;
      widest = promoted(widest.value_or(tensor.dtype), tensor.dtype);
    }
    if (op.parameters.empty()) return widest.value_or(old_.compute_dtype);
    const DType parameters = parameter_dtype(op.parameters.front());
    if (widest && *widest != parameters) return refuse_autocast(op);
    return parameters;
  }

  tl::unexpected<Error> refuse_autocast(const Operator& op) const {
    const std::string& path = old_.module(op.module).path;
    return bad_input("precision.autocast",
                     fmt::format("not supported yet: {} of {}, whose steps would have different dtypes",
                                 op.type->name, path.empty() ? "the model" : "'" + path + "'"),
                     "nearest that works: precision.param");
  }

  // The dtype that its parameters and its floating-point activations share.
  Result<DType> operator_dtype(const Operator& op) const {
    std::optional<DType> inputs, parameters;
    for (const TensorId id : op.inputs) {
      const Tensor& tensor = graph_.tensor(id);
      if (tensor.role != TensorRole::activation || !is_floating_point(tensor.dtype)) continue;
      if (inputs && *inputs != tensor.dtype) return refuse(op, tensor.dtype, *inputs, "another input");
      inputs = tensor.dtype;
    }
    for (const ParameterId id : op.parameters) parameters = parameter_dtype(id);
    if (inputs && parameters && *inputs != *parameters)
      return refuse(op, *inputs, *parameters, "its parameters");
    return parameters ? *parameters : inputs.value_or(old_.compute_dtype);
  }

  tl::unexpected<Error> refuse(const Operator& op, DType input, DType other, std::string_view what) const {
    const std::string& path = old_.module(op.module).path;
    const ModuleId unit = borders_.units_around(op.module).front();
    const std::string& unit_path = old_.module(unit).path;
    return bad_input(
        "precision",
        fmt::format(
            "{} of {} would get an input in {} while {} are in {}: PyTorch fails there or promotes silently",
            op.type->name, path.empty() ? "the model" : "'" + path + "'", to_string(input), what,
            to_string(other)),
        fmt::format(
            "give the unit '{}' precision.cast_forward_inputs: true, or the unit that makes the input "
            "precision.output: {}",
            unit_path.empty() ? old_.module(unit).class_name : unit_path, to_string(other)));
  }

  const ModelGraph& old_;
  const std::map<ModuleId, UnitPrecision>& units_;
  UnitBorders borders_;
  std::optional<DType> autocast_;
  std::vector<std::optional<TensorId>> made_;  // by old TensorId: as its producer makes it
  std::map<std::pair<ModuleId, TensorId>, TensorId> entering_,
      leaving_;  // by unit and old tensor: the cast one
  ModelGraph graph_;
};

}  // namespace

Result<ModelGraph> assign_precision(ModelGraph graph, const std::map<ModuleId, UnitPrecision>& units,
                                    std::span<const JoinedModules> joined, std::optional<DType> autocast) {
  if (!autocast && is_uniform(graph, units)) return graph;
  return Rewriter(graph, units, joined, autocast).assign();
}

}  // namespace shardlab
