#include "engine/execute/torch/probes/operator_bench.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/execute/torch/torch_dtype.h"

namespace shardlab {
namespace {

// What all sets of operands take together. It is more than the last cache holds: operands come from memory,
// as in a step.
constexpr std::int64_t k_set_bytes = 16 << 20, k_device_set_bytes = 256 << 20;
constexpr std::int64_t k_most_sets = 8;

const OperatorImplementation& implementation_of(std::string_view name, const ExecutionBackend* backend) {
  const OperatorImplementation* found = backend ? backend->find_operator(name) : find_implementation(name);
  if (found == nullptr) throw std::runtime_error("no implementation of " + std::string(name));
  return *found;
}

std::int64_t bytes_of_all(const std::vector<at::Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors)
    bytes += tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
  return bytes;
}

}  // namespace

OperatorBench::OperatorBench(const ModelGraph& graph, const ExecutionBackend* backend)
    : graph_(graph),
      op_(graph.operators.front()),
      device_(backend ? backend->device() : c10::Device(c10::kCPU)),
      description_(op_.type->describe(graph, op_)),
      implementation_(implementation_of(op_.type->name, backend)) {
  sets_.push_back(make_set());
  const Set& one = sets_.front();
  const std::int64_t bytes =
      bytes_of_all(one.inputs) + bytes_of_all(one.parameters) * 2 + bytes_of_all(one.outputs) * 2;
  const std::int64_t sets = std::clamp<std::int64_t>(
      (backend ? k_device_set_bytes : k_set_bytes) / std::max<std::int64_t>(bytes, 1), 1, k_most_sets);
  while (static_cast<std::int64_t>(sets_.size()) < sets) sets_.push_back(make_set());
}

at::Tensor OperatorBench::like(const Shape& shape, DType dtype) const {
  return at::empty(shape, at::TensorOptions(to_torch(dtype)).device(device_));
}

// Random: all-zero operands run faster on some hardware.
at::Tensor OperatorBench::random(const Shape& shape, DType dtype) const {
  return at::rand(shape, at::TensorOptions(at::kFloat).device(device_)).sub_(0.5).to(to_torch(dtype));
}

at::Tensor OperatorBench::filled(const Tensor& tensor) const {
  if (tensor.dtype != DType::int64) return random(tensor.shape, tensor.dtype);
  const std::int64_t count = element_count(tensor.shape);
  return at::arange(count, at::TensorOptions(at::kLong).device(device_))
      .mul_(7919)
      .remainder_(graph_.vocabulary)
      .view(tensor.shape);
}

OperatorBench::Set OperatorBench::make_set() const {
  Set set;
  for (const TensorId input : op_.inputs) {
    const Tensor& tensor = graph_.tensor(input);
    set.inputs.push_back(filled(tensor));
    set.input_gradients.push_back(tensor.requires_grad ? like(tensor.shape, tensor.dtype) : at::Tensor());
  }
  for (const ParameterId parameter : op_.parameters) {
    const Shape& shape = graph_.parameter(parameter).shape;
    set.parameters.push_back(random(shape, graph_.compute_dtype));
    set.parameter_gradients.push_back({like(shape, graph_.compute_dtype), false});
  }
  for (const TensorId output : op_.outputs) {
    const Tensor& tensor = graph_.tensor(output);
    set.outputs.push_back(like(tensor.shape, tensor.dtype));
    set.output_gradients.push_back(output == graph_.loss ? at::Tensor() : random(tensor.shape, tensor.dtype));
  }
  for (const ExtraTensor& extra : description_.extras) set.extras.push_back(like(extra.shape, extra.dtype));
  implementation_.forward({op_, graph_, set.inputs, set.parameters, set.outputs, set.extras});
  return set;
}

void OperatorBench::forward(int repeat) const {
  const Set& s = set(repeat);
  implementation_.forward({op_, graph_, s.inputs, s.parameters, s.outputs, s.extras});
}

void OperatorBench::backward(int repeat, bool of_inputs, bool of_parameters) const {
  const Set& s = set(repeat);
  const std::vector<at::Tensor> no_gradients(s.inputs.size());
  const std::vector<ParameterGradient> no_parameter_gradients(s.parameters.size());
  implementation_.backward({op_, graph_, s.output_gradients, 1.0, s.inputs, s.outputs, s.parameters, s.extras,
                            of_inputs ? s.input_gradients : no_gradients,
                            of_parameters ? s.parameter_gradients : no_parameter_gradients});
}

}  // namespace shardlab
