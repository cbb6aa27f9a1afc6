// linear against autograd of x W^T + b.
#include "engine/execute/torch/operators/implementation_list.h"
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

struct Case {
  std::int64_t rows, inputs, outputs;
};

SingleOperator make_linear(at::ScalarType dtype, const Case& c, bool bias, bool wants_gradient = true) {
  std::vector<at::Tensor> parameters{random({c.outputs, c.inputs}, dtype, 2)};
  if (bias) parameters.push_back(random({c.outputs}, dtype, 3));
  return {k_linear,
          {{random({1, c.rows, c.inputs}, dtype, 1), wants_gradient}},
          std::move(parameters),
          {1, c.rows, c.outputs}};
}

const PlainFunction k_plain = [](const auto& inputs, const auto& parameters) {
  const at::Tensor y = at::matmul(inputs[0], parameters[0].t());
  return parameters.size() > 1 ? y + parameters[1] : y;
};

}  // namespace

TEST_CASE("linear, with and without bias, and all its gradients") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const Case& c : {Case{1, 1, 1}, Case{5, 7, 3}, Case{64, 33, 129}, Case{200, 256, 96}}) {
      for (const bool bias : {false, true}) {
        CAPTURE(dtype, c.rows, c.inputs, c.outputs, bias);
        require_as_reference(make_linear(dtype, c, bias), k_plain, tolerance_of(dtype));
      }
    }
  }
}

TEST_CASE("linear_add and its gradients: a scaled product added to a tensor") {
  for (const OperatorType* type : {&k_linear_add, &k_eager_linear_add}) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
      for (const Case& c : {Case{1, 1, 1}, Case{5, 4, 7}, Case{64, 8, 129}}) {
        for (const double scale : {2.0, 0.125}) {
          CAPTURE(type->name, dtype, c.rows, c.inputs, c.outputs, scale);
          require_as_reference(
              {*type,
               {{random({1, c.rows, c.outputs}, dtype, 4)}, {random({1, c.rows, c.inputs}, dtype, 1)}},
               {random({c.outputs, c.inputs}, dtype, 2)},
               {1, c.rows, c.outputs},
               {{attribute::k_scale, scale}}},
              [=](const auto& inputs, const auto& parameters) {
                return inputs[0] + scale * at::matmul(inputs[1], parameters[0].t());
              },
              tolerance_of(dtype));
        }
      }
    }
  }
}

TEST_CASE("linear whose input wants no gradient") {
  require_as_reference(make_linear(at::kFloat, {12, 20, 8}, true, false), k_plain, 2e-6);
}

TEST_CASE("linear writes a weight gradient that is a view into a flat buffer, and nothing beside it") {
  SingleOperator single = make_linear(at::kFloat, {9, 6, 5}, false);
  const at::Tensor flat = at::full({64}, 7.0, at::kFloat);
  const at::Tensor dy = random({1, 9, 5}, at::kFloat, 4);
  const at::Tensor x = single.inputs[0].value;
  const at::Tensor view = flat.narrow(0, 10, 30).view({5, 6});
  const std::vector<at::Tensor> inputs{x}, gradients{dy}, none{at::Tensor()};
  for (const bool accumulate : {false, true, true}) {
    const std::vector<ParameterGradient> target{{view, accumulate}};
    k_linear_implementation.backward({single.graph().operators[0],
                                      single.graph(),
                                      gradients,
                                      1,
                                      inputs,
                                      none,
                                      single.parameters,
                                      {},
                                      none,
                                      target});
  }
  const at::Tensor once = at::mm(dy[0].t(), x[0]);
  CHECK(at::allclose(view, once * 3, 1e-5, 1e-6));
  CHECK(flat.narrow(0, 0, 10).eq(7).all().item<bool>());
  CHECK(flat.narrow(0, 40, 24).eq(7).all().item<bool>());
}

}  // namespace shardlab::test
