// Whole models through the operators of each place, against the same on the host: loss and every gradient.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "tests/catch.h"
#include "tests/unit/execute/torch/model_run.h"
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

struct Made {
  double loss = 0;
  std::vector<at::Tensor> gradients;
};

Made run_at(const Place& place, const ModelGraph& graph) {
  const c10::InferenceMode inference;
  const Partition partition = make_partition(graph, {}, {});
  at::manual_seed(5);  // parameters and batch
  ModelRun run(graph, partition.segments[0], place);
  run.forward();
  run.backward();
  Made made{run.loss().item<double>(), {}};
  for (const ParameterGradient& gradient : run.gradients())
    made.gradients.push_back(gradient.gradient.cpu().to(at::kDouble));
  return made;
}

// Gradients that are zero but for rounding (biases of keys) are compared with the largest of all.
double worst_difference(const std::vector<at::Tensor>& made, const std::vector<at::Tensor>& expected) {
  double largest = 0, worst = 0;
  for (const at::Tensor& gradient : expected)
    largest = std::max(largest, gradient.abs().max().item<double>());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double scale = std::max(expected[i].abs().max().item<double>(), 1e-2 * largest);
    worst = std::max(worst, (made[i] - expected[i]).abs().max().item<double>() / scale);
  }
  return worst;
}

void compare_places(const std::string& family, DType dtype, double tolerance) {
  const bool short_model = family == "llama_dynamic";
  const ModelGraph graph = family_model(family, GraphOptions{2, short_model ? 24 : 60, dtype, dtype});
  const Made expected = run_at({}, graph);
  for (const Place& place : all_places()) {
    CAPTURE(family, to_string(dtype), place.name);
    const Made made = run_at(place, graph);
    CHECK(made.loss == Approx(expected.loss).epsilon(tolerance));
    CHECK(worst_difference(made.gradients, expected.gradients) <= tolerance * place.slack);
  }
}

bool has_router(const std::string& family) {
  for (const Operator& op :
       family_model(family, GraphOptions{1, 8, DType::float32, DType::float32}).operators) {
    if (op.type == &k_top_k) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every family makes the same loss and gradients wherever it runs") {
  for (const std::string& name : family_names()) {
    compare_places(name, DType::float32, 1e-5);
    // A router's choice may turn on one rounding.
    if (!has_router(name)) compare_places(name, DType::bfloat16, 3e-2);
  }
}

}  // namespace shardlab::test
