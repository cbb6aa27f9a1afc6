// cast: the conversion of ATen in both directions.
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

struct CastPair {
  DType from, to;
  at::ScalarType torch_from, torch_to;
};

constexpr CastPair k_pairs[] = {{DType::float32, DType::bfloat16, at::kFloat, at::kBFloat16},
                                {DType::bfloat16, DType::float32, at::kBFloat16, at::kFloat},
                                {DType::float32, DType::float16, at::kFloat, at::kHalf}};

ModelGraph cast_graph(const CastPair& pair, const Shape& shape) {
  ModelGraph graph;
  graph.tensors = {{"x", shape, pair.from, TensorRole::activation, true, {}},
                   {"y", shape, pair.to, TensorRole::activation, true, {}}};
  graph.operators = {{&k_cast, {}, {TensorId{0}}, {TensorId{1}}, {}, {}}};
  return graph;
}

}  // namespace

TEST_CASE("cast converts the value forward and the gradient back") {
  const c10::InferenceMode inference;
  const Shape shape{2, 3, 37};
  for (const CastPair& pair : k_pairs) {
    CAPTURE(to_string(pair.from), to_string(pair.to));
    const ModelGraph graph = cast_graph(pair, shape);
    const Operator& op = graph.operators[0];
    const std::vector<at::Tensor> x{random(shape, pair.torch_from, 1)}, dy{random(shape, pair.torch_to, 2)};
    const std::vector<at::Tensor> y{at::full(shape, NAN, pair.torch_to)},
        dx{at::full(shape, NAN, pair.torch_from)};
    const std::vector<at::Tensor> none{at::Tensor()};
    const OperatorImplementation* cast = find_implementation("cast");
    cast->forward({op, graph, x, {}, y, {}});
    CHECK(at::equal(y[0], x[0].to(pair.torch_to)));
    cast->backward({op, graph, dy, 1, none, none, {}, {}, dx, {}});
    CHECK(at::equal(dx[0], dy[0].to(pair.torch_from)));
    cast->backward({op, graph, dy, 1, none, none, {}, {}, none, {}});  // nobody wants the gradient
  }
}

TEST_CASE("cast keeps nothing and moves both sides") {
  const ModelGraph graph = cast_graph(k_pairs[0], {4, 8});
  const OperatorDescription description = k_cast.describe(graph, graph.operators[0]);
  CHECK(description.saved_inputs == 0);
  CHECK(description.saved_outputs == 0);
  CHECK(description.extras.empty());
  REQUIRE(description.backward.size() == 1);
  CHECK(description.forward[0].bytes.value == 32 * (4 + 2));
  CHECK(description.backward[0].bytes.value == 32 * (4 + 2));
}

}  // namespace shardlab::test
