#include "tests/unit/execute/torch/model_run.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "engine/execute/torch/buffer_table.h"
#include "engine/model/constants.h"
#include "engine/model/families/family.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::test {
namespace {

// Elsewhere on a machine that has the programs and not the source (scripts/portable.sh).
std::filesystem::path families_folder() {
  const char* named = std::getenv("SHARDLAB_TEST_FAMILIES");
  return named != nullptr ? std::filesystem::path(named) : data_file("families");
}

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  if (dtype == DType::int64) return at::kLong;
  if (dtype == DType::uint8) return at::kByte;
  if (dtype == DType::float16) return at::kHalf;
  return dtype == DType::bfloat16 ? at::kBFloat16 : at::kFloat;
}

ModelGraph family_model(const std::string& name, const GraphOptions& options) {
  const auto config = ModelConfig::read(families_folder() / (name + ".json"), {});
  REQUIRE_OK(config);
  auto graph = build_model_graph(*config, options);
  REQUIRE_OK(graph);
  return *std::move(graph);
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(families_folder())) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  REQUIRE_FALSE(names.empty());
  return names;
}

ModelRun::ModelRun(const ModelGraph& graph, const Segment& segment, const Place& place)
    : graph_(graph), segment_(segment), place_(place) {
  for (const Parameter& parameter : graph.parameters) {
    parameters_.push_back(
        at::randn(parameter.shape).mul_(0.05).to(place.device, scalar_type(parameter.dtype)));
    gradients_.push_back(
        {parameter.requires_grad ? at::empty_like(parameters_.back()) : at::Tensor(), false});
  }
  for (const TensorId input : segment.inputs)
    tensors_[input.value] = input_value(graph.tensor(input)).to(place.device);
}

void ModelRun::set_parameter(const std::string& name, const at::Tensor& value) {
  const auto found = std::find_if(graph_.parameters.begin(), graph_.parameters.end(),
                                  [&](const Parameter& parameter) { return parameter.name == name; });
  REQUIRE(found != graph_.parameters.end());
  parameters_[static_cast<std::size_t>(found - graph_.parameters.begin())].copy_(value);
}

void ModelRun::set_batch(const at::Tensor& tokens, const at::Tensor& targets) {
  for (const TensorId input : segment_.inputs) {
    if (graph_.tensor(input).role == TensorRole::tokens) tensors_[input.value] = tokens.to(place_.device);
    if (graph_.tensor(input).role == TensorRole::targets) tensors_[input.value] = targets.to(place_.device);
  }
}

at::Tensor ModelRun::input_value(const Tensor& tensor) const {
  if (tensor.role != TensorRole::constant) return at::randint(graph_.vocabulary, tensor.shape, at::kLong);
  at::Tensor table = at::empty(tensor.shape, at::kFloat);
  fill_constant(tensor, {table.mutable_data_ptr<float>(), static_cast<std::size_t>(table.numel())});
  return table.to(scalar_type(tensor.dtype));
}

void ModelRun::run(const Program& program, bool forward, const StepWatch& watch) {
  std::vector<at::Tensor> values(program.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = existing(program.values[i]);
  Bytes live;
  for (const ProgramStep& step : program.steps) {
    const bool allocates_itself = step.temporaries_before > Bytes{};
    if (!allocates_itself) allocate(program, step, values);
    for (const ValueIndex value : step.allocates) live += program.values[value].bytes;
    if (watch.allocated && !allocates_itself) watch.allocated(live);
    const auto operate = [&] { run_step(program, step, values); };
    if (watch.operate) {
      watch.operate(step, operate);
    } else {
      operate();
    }
    keep(program, step, values, forward);
    for (const ValueIndex value : step.frees) {
      if (program.values[value].origin == ValueOrigin::saved) saved_[program.values[value].saved].reset();
      live -= program.values[value].bytes;
      values[value].reset();
    }
    INFO("step " << (&step - program.steps.data()));
    if (watch.finished) watch.finished(live);
  }
}

void ModelRun::allocate(const Program& program, const ProgramStep& step,
                        std::vector<at::Tensor>& values) const {
  for (const ValueIndex value : step.allocates) {
    const ProgramValue& v = program.values[value];
    values[value] = at::empty(v.extra ? v.extra_shape : graph_.tensor(v.tensor).shape,
                              at::TensorOptions(scalar_type(v.dtype)).device(place_.device));
  }
}

at::Tensor ModelRun::existing(const ProgramValue& value) const {
  if (value.origin == ValueOrigin::saved) return saved_[value.saved];
  const auto found = tensors_.find(value.tensor.value);
  return value.origin == ValueOrigin::tensor_buffer && !value.gradient && found != tensors_.end()
             ? found->second
             : at::Tensor();
}

// Forward hands over what backward reads.
void ModelRun::keep(const Program& program, const ProgramStep& step, const std::vector<at::Tensor>& values,
                    bool forward) {
  if (!forward) return;
  saved_.resize(segment_.programs.keeps.size());
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    const at::Tensor& kept = values[segment_.programs.keeps[i]];
    if (kept.defined()) saved_[i] = kept;
  }
  for (const ValueIndex result : step.results) {
    const ProgramValue& value = program.values[result];
    if (value.origin == ValueOrigin::tensor_buffer) tensors_[value.tensor.value] = values[result];
    const auto wanted = made_.find(std::string(graph_.tensor(value.tensor).label));
    if (wanted != made_.end()) wanted->second = values[result].clone();
  }
}

void ModelRun::run_step(const Program& program, const ProgramStep& step,
                        std::vector<at::Tensor>& values) const {
  const auto pick = [&](const auto& indices) {
    std::vector<at::Tensor> picked;
    for (const ValueIndex index : indices)
      picked.push_back(index == k_no_value ? at::Tensor() : values[index]);
    return picked;
  };
  const auto operands = pick(step.operands), extras = pick(step.extras);
  auto results = pick(step.results);
  if (step.kind == StepKind::accumulate) {
    at::Tensor sum = results[0];
    at::add_out(sum, operands[0], operands.size() > 1 ? operands[1] : sum);
    return;
  }
  REQUIRE(step.kind != StepKind::copy);
  const Operator& op = graph_.op(step.op);
  std::vector<at::Tensor> parameters;
  std::vector<ParameterGradient> gradients;
  for (const ParameterId id : op.parameters) {
    parameters.push_back(parameters_[id.index()]);
    // A tied parameter's second contribution adds to the first: the operator that uses it last comes first.
    gradients.push_back(gradients_[id.index()]);
    gradients.back().accumulate = later_use(id, step.op);
  }
  const OperatorImplementation* implementation = place_.find(op.type->name);
  if (step.kind == StepKind::forward) {
    const std::vector<std::uint64_t> seeds(static_cast<std::size_t>(graph_.micro_batch), step.op.index());
    implementation->forward({op, graph_, operands, parameters, results, extras, seeds});
    return;
  }
  const auto saved_inputs = pick(step.saved_inputs), saved_outputs = pick(step.saved_outputs);
  BackwardArguments arguments{op,         graph_, operands, 1,        saved_inputs, saved_outputs,
                              parameters, extras, results,  gradients};
  arguments.give_extra = [&](std::size_t extra) { release_storage(values[step.extras[extra]]); };
  if (step.temporaries_before > Bytes{}) {
    for (std::size_t i = 0; i < results.size(); ++i) arguments.wanted |= (step.results[i] != k_no_value) << i;
    arguments.allocate_input_gradients = [&] {
      allocate(program, step, values);
      results = pick(step.results);
      arguments.input_gradients = results;
    };
  }
  implementation->backward(arguments);
}

bool ModelRun::later_use(ParameterId parameter, OperatorId op) const {
  for (std::size_t i = op.index() + 1; i < graph_.operators.size(); ++i) {
    const auto& used = graph_.operators[i].parameters;
    if (std::find(used.begin(), used.end(), parameter) != used.end()) return true;
  }
  return false;
}

}  // namespace shardlab::test
