#include "tests/unit/execute/torch/operators/single_operator.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

namespace shardlab::test {
namespace {

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::bfloat16: return at::kBFloat16;
    case DType::float16: return at::kHalf;
    case DType::int64: return at::kLong;
    case DType::uint8: return at::kByte;
    default: return at::kFloat;
  }
}

DType dtype_of(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kLong) return DType::int64;
  if (tensor.scalar_type() == at::kByte) return DType::uint8;
  if (tensor.scalar_type() == at::kHalf) return DType::float16;
  return tensor.scalar_type() == at::kBFloat16 ? DType::bfloat16 : DType::float32;
}

// What a float32 extra may differ from the host's. Probabilities are made of scores that a product has
// rounded to the dtype, on a device now and then to the neighbour.
double limit_of_extra(std::string_view label, at::ScalarType dtype, double of_rounded) {
  return dtype == at::kFloat && label != "wide_probabilities" ? 1e-5 : of_rounded;
}

at::Tensor where(bool wanted, const at::Tensor& tensor) {
  return wanted ? tensor : at::Tensor();
}

}  // namespace

SingleOperator::SingleOperator(const OperatorType& type, std::vector<OperatorInput> inputs_,
                               std::vector<at::Tensor> parameters_, Shape output_shape, Attributes attributes)
    : inputs(std::move(inputs_)), parameters(std::move(parameters_)) {
  Operator op{&type, {}, {}, {}, {}, std::move(attributes)};
  const auto add_tensor = [&](const Shape& shape, DType dtype, bool requires_grad) {
    graph_.tensors.push_back({"t", shape, dtype, TensorRole::activation, requires_grad, {}});
    return make_id<TensorId>(graph_.tensors.size() - 1);
  };
  for (const OperatorInput& input : inputs)
    op.inputs.push_back(add_tensor(input.value.sizes().vec(), dtype_of(input.value), input.wants_gradient));
  for (const at::Tensor& parameter : parameters) {
    graph_.parameters.push_back(
        {"p", parameter.sizes().vec(), dtype_of(parameter), {}, InitialValue::zeros, 0});
    op.parameters.push_back(make_id<ParameterId>(graph_.parameters.size() - 1));
  }
  const bool loss = output_shape.empty();
  DType dtype = loss ? DType::float32 : dtype_of(inputs[0].value);
  if (dtype == DType::int64) dtype = dtype_of(parameters[0]);
  op.outputs.push_back(add_tensor(output_shape, dtype, true));
  graph_.operators.push_back(std::move(op));
}

void SingleOperator::freeze_last(std::size_t count) {
  for (std::size_t i = parameters.size() - count; i < parameters.size(); ++i)
    graph_.parameters[i].requires_grad = graph_.parameters[i].trainable = false;
}

SingleOperator SingleOperator::copy_at(const Place& place) const {
  SingleOperator copy = *this;
  copy.place_ = place;
  for (OperatorInput& input : copy.inputs)
    input.value = input.value.to(place.device, input.value.scalar_type(), false, /*copy=*/true);
  for (at::Tensor& parameter : copy.parameters) parameter = parameter.to(place.device);
  return copy;
}

at::Tensor SingleOperator::spoiled(at::IntArrayRef shape, at::ScalarType dtype) const {
  const at::TensorOptions options = at::TensorOptions(dtype).device(place_.device);
  if (!at::isFloatingType(dtype)) return at::full(shape, std::numeric_limits<std::int8_t>::max(), options);
  return at::full(shape, std::numeric_limits<double>::quiet_NaN(), options);
}

at::Tensor SingleOperator::empty_like(TensorId tensor) const {
  const Tensor& t = graph_.tensor(tensor);
  return spoiled(t.shape, scalar_type(t.dtype));
}

Outcome SingleOperator::forward() const {
  const c10::NoGradGuard no_grad;
  const Operator& op = graph_.operators[0];
  Outcome outcome;
  outcome.output = empty_like(op.outputs[0]);
  for (const ExtraTensor& extra : op.type->describe(graph_, op).extras) {
    outcome.extras.push_back(spoiled(extra.shape, scalar_type(extra.dtype)));
  }
  std::vector<at::Tensor> values;
  for (const OperatorInput& input : inputs) values.push_back(input.value);
  place_.find(op.type->name)
      ->forward({op, graph_, values, parameters, {&outcome.output, 1}, outcome.extras, seeds});
  return outcome;
}

Outcome SingleOperator::run(const at::Tensor& output_gradient, double seed,
                            const std::vector<at::Tensor>& before) {
  const c10::NoGradGuard no_grad;
  const Operator& op = graph_.operators[0];
  const OperatorDescription description = op.type->describe(graph_, op);
  Outcome outcome = forward();
  std::vector<at::Tensor> saved_inputs, saved_outputs{where(description.saved_outputs & 1U, outcome.output)};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    saved_inputs.push_back(where(description.saved_inputs >> i & 1U, inputs[i].value));
    const bool passed = description.passed_gradients >> i & 1U;
    const bool overwritten = description.overwritten_inputs >> i & 1U;
    at::Tensor gradient;
    if (inputs[i].wants_gradient)
      gradient = passed ? output_gradient : overwritten ? inputs[i].value : empty_like(op.inputs[i]);
    outcome.input_gradients.push_back(gradient);
  }
  std::vector<ParameterGradient> gradients;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor gradient =
        !graph_.parameters[i].requires_grad ? at::Tensor()
        : before.empty()                    ? spoiled(parameters[i].sizes(), parameters[i].scalar_type())
                         : before[i].to(place_.device, parameters[i].scalar_type(), false, /*copy=*/true);
    outcome.parameter_gradients.push_back(gradient);
    gradients.push_back({gradient, gradient.defined() && !before.empty()});
  }
  place_.find(op.type->name)
      ->backward({op,
                  graph_,
                  {&output_gradient, 1},
                  seed,
                  saved_inputs,
                  saved_outputs,
                  parameters,
                  outcome.extras,
                  outcome.input_gradients,
                  gradients});
  return outcome;
}

Outcome reference(const SingleOperator& single, const PlainFunction& function,
                  const at::Tensor& output_gradient, double seed, const std::vector<at::Tensor>& before) {
  std::vector<at::Tensor> inputs, parameters, leaves;
  const auto leaf = [&](const at::Tensor& value, bool wanted) {
    if (!value.is_floating_point()) return value;
    at::Tensor copy = value.to(at::kDouble).clone();
    if (wanted) leaves.push_back(copy.set_requires_grad(true));
    return copy;
  };
  for (const OperatorInput& input : single.inputs) inputs.push_back(leaf(input.value, input.wants_gradient));
  const std::vector<Parameter>& known = single.graph().parameters;
  for (std::size_t i = 0; i < single.parameters.size(); ++i)
    parameters.push_back(leaf(single.parameters[i], known[i].requires_grad));
  Outcome outcome;
  outcome.output = function(inputs, parameters);
  const at::Tensor dy =
      output_gradient.defined() ? output_gradient.to(at::kDouble) : at::full({}, seed, at::kDouble);
  std::vector<at::Tensor> gradients = torch::autograd::grad({outcome.output}, leaves, {dy});
  outcome.output = outcome.output.detach();
  std::size_t next = 0;
  for (const OperatorInput& input : single.inputs) {
    outcome.input_gradients.push_back(
        input.value.is_floating_point() && input.wants_gradient ? gradients[next++] : at::Tensor());
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!known[i].requires_grad) {
      outcome.parameter_gradients.emplace_back();
      continue;
    }
    const at::Tensor gradient = gradients[next++];
    outcome.parameter_gradients.push_back(before.empty() ? gradient : gradient + before[i].to(at::kDouble));
  }
  return outcome;
}

double relative_difference(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor difference = (actual.cpu().to(at::kDouble) - expected).abs().max();
  return difference.item<double>() / std::max(1e-30, expected.abs().max().item<double>());
}

void require_close(const Outcome& actual, const Outcome& expected, double tolerance) {
  CHECK(relative_difference(actual.output, expected.output) <= tolerance);
  for (std::size_t i = 0; i < expected.input_gradients.size(); ++i) {
    INFO("gradient of input " << i);
    REQUIRE(actual.input_gradients[i].defined() == expected.input_gradients[i].defined());
    if (expected.input_gradients[i].defined()) {
      CHECK(relative_difference(actual.input_gradients[i], expected.input_gradients[i]) <= tolerance);
    }
  }
  for (std::size_t i = 0; i < expected.parameter_gradients.size(); ++i) {
    INFO("gradient of parameter " << i);
    REQUIRE(actual.parameter_gradients[i].defined() == expected.parameter_gradients[i].defined());
    if (!expected.parameter_gradients[i].defined()) continue;
    CHECK(relative_difference(actual.parameter_gradients[i], expected.parameter_gradients[i]) <= tolerance);
  }
}

at::Tensor random(const Shape& shape, at::ScalarType dtype, std::uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  return at::randn(shape, generator, at::TensorOptions(at::kFloat)).to(dtype);
}

void require_as_reference(SingleOperator single, const PlainFunction& function, double tolerance) {
  const Tensor& output = single.graph().tensors.back();
  const bool loss = output.shape.empty();
  const double seed = loss ? 0.25 : 1;
  const at::Tensor dy = loss ? at::Tensor() : random(output.shape, scalar_type(output.dtype), 99);
  std::vector<at::Tensor> before;
  for (const at::Tensor& parameter : single.parameters)
    before.push_back(random(parameter.sizes().vec(), parameter.scalar_type(), 98));
  const Outcome plain = reference(single, function, dy, seed),
                added = reference(single, function, dy, seed, before);
  const std::vector<at::Tensor> extras = single.forward().extras;
  const Operator& op = single.graph().operators[0];
  const std::vector<ExtraTensor> described = op.type->describe(single.graph(), op).extras;
  for (const Place& place : all_places()) {
    INFO(place.name);
    const at::Tensor dy_there = dy.defined() ? dy.to(place.device) : dy;
    if (!before.empty()) {
      INFO("gradients of parameters accumulate");
      SingleOperator there = single.copy_at(place);
      require_close(there.run(dy_there, seed, before), added, tolerance * place.slack);
    }
    INFO("gradients of parameters are overwritten");
    const Outcome outcome = single.copy_at(place).run(dy_there, seed);
    require_close(outcome, plain, tolerance * place.slack);
    for (std::size_t i = 0; i < extras.size(); ++i) {
      INFO("extra " << i);
      const double limit =
          limit_of_extra(described[i].label, extras[i].scalar_type(), tolerance * place.slack);
      CHECK(relative_difference(outcome.extras[i], extras[i].to(at::kDouble)) <= limit);
    }
  }
}

}  // namespace shardlab::test
