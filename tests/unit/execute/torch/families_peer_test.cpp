// Families against what transformers made of the same weights and batch. Not a test of its own:
// tests/peers/families.py runs it and says in SHARDLAB_PEER_FOLDER where the files are, one folder a model.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "engine/checkpoint/safetensors.h"
#include "engine/scenario/read_scenario.h"
#include "engine/strategies/plan_scenario.h"
#include "tests/catch.h"
#include "tests/unit/execute/torch/model_run.h"

namespace shardlab::test {
namespace {

constexpr double k_logits = 1e-5;    // of the largest logit
constexpr double k_gradient = 1e-4;  // of the largest element of the parameter's gradient
constexpr double k_nothing =
    1e-6;  // of the largest of all: gradients that are zero but for rounding (biases of keys)
constexpr double k_parameter = 1e-4;  // of the largest element, after the training
constexpr std::int64_t k_sequence = 24;  // as in _transformers_worker.py

class Tensors {
 public:
  explicit Tensors(const std::filesystem::path& file) {
    auto reader = SafetensorsReader::open(file);
    REQUIRE_OK(reader);
    for (const auto& [name, entry] : reader->tensors()) {
      at::Tensor tensor = at::empty(entry.shape, at::kFloat);
      const auto count = static_cast<std::size_t>(tensor.numel());
      REQUIRE_OK(reader->read(name, 0, {tensor.mutable_data_ptr<float>(), count}));
      all_[name] = tensor;
    }
  }
  bool has(const std::string& name) const { return all_.count(name) == 1; }
  const at::Tensor& operator[](const std::string& name) const {
    INFO(name);
    REQUIRE(all_.count(name) == 1);
    return all_.at(name);
  }

 private:
  std::map<std::string, at::Tensor> all_;
};

double largest(const at::Tensor& tensor) {
  return tensor.abs().max().item<double>();
}

ModelGraph graph_of(const std::filesystem::path& folder) {
  const auto scenario = read_scenario((folder / "scenario.yaml").string());
  REQUIRE_OK(scenario);
  auto graph = load_model_graph(*scenario);
  REQUIRE_OK(graph);
  return *std::move(graph);
}

// The largest difference of a gradient, each relative to its own largest element; frozen parameters have none.
double worst_gradient(const ModelGraph& graph, const ModelRun& run, const Tensors& expected) {
  double scale = 0, worst = 0;
  for (const Parameter& parameter : graph.parameters) {
    REQUIRE(expected.has("gradient." + parameter.name) == parameter.trainable);
    if (parameter.trainable) scale = std::max(scale, largest(expected["gradient." + parameter.name]));
  }
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    REQUIRE(run.gradients()[i].gradient.defined() == graph.parameters[i].trainable);
    if (!graph.parameters[i].trainable) continue;
    const at::Tensor& theirs = expected["gradient." + graph.parameters[i].name];
    const double difference = largest(run.gradients()[i].gradient - theirs);
    const double relative = difference / std::max(largest(theirs), k_nothing / k_gradient * scale);
    INFO(graph.parameters[i].name << ": " << difference << " of " << largest(theirs));
    CHECK(relative <= k_gradient);
    worst = std::max(worst, relative);
  }
  return worst;
}

// Of the parameters after the same training, which tests/peers/families.py ran.
double worst_parameter(const ModelGraph& graph, const std::filesystem::path& folder) {
  const Tensors ours(folder / "ours.safetensors"), theirs(folder / "trained.safetensors");
  double worst = 0;
  for (const Parameter& parameter : graph.parameters) {
    INFO(parameter.name);
    const at::Tensor& expected = theirs[parameter.name];
    const double difference = largest(ours[parameter.name] - expected) / largest(expected);
    CHECK(difference <= (parameter.trainable ? k_parameter : 0));
    worst = std::max(worst, difference);
  }
  return worst;
}

void compare(const std::filesystem::path& folder) {
  INFO(folder.filename().string());
  const c10::InferenceMode inference;
  const ModelGraph graph = graph_of(folder);
  const Partition partition = make_partition(graph, {}, {});
  REQUIRE(partition.segments.size() == 1);
  const Tensors weights(folder / "weights.safetensors"), expected(folder / "expected.safetensors");
  ModelRun run(graph, partition.segments[0]);
  for (const Parameter& parameter : graph.parameters)
    run.set_parameter(parameter.name, weights[parameter.name]);
  const at::Tensor tokens = expected["tokens"].to(at::kLong);
  run.set_batch(tokens.narrow(1, 0, k_sequence).contiguous(), tokens.narrow(1, 1, k_sequence).contiguous());
  run.copy_tensors_of("logits");
  run.forward();
  run.backward();

  const at::Tensor& theirs = expected["logits"];
  const double logits = largest(run.made("logits") - theirs) / largest(theirs);
  const double loss = std::abs(run.loss().item<double>() / expected["loss"].item<double>() - 1);
  CHECK(logits <= k_logits);
  CHECK(loss <= k_logits);
  fmt::print(
      "{}: logits {:.1e} (limit {:.0e}), loss {:.1e}, worst gradient of {} {:.1e} (limit {:.0e}), worst "
      "parameter after training {:.1e} (limit {:.0e})\n",
      folder.filename().string(), logits, k_logits, loss, graph.parameters.size(),
      worst_gradient(graph, run, expected), k_gradient, worst_parameter(graph, folder), k_parameter);
}

}  // namespace

TEST_CASE("logits and gradients are those of transformers", "[.peer]") {
  const char* place = std::getenv("SHARDLAB_PEER_FOLDER");
  REQUIRE(place != nullptr);
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(place)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  REQUIRE_FALSE(folders.empty());
  std::sort(folders.begin(), folders.end());
  for (const auto& folder : folders) compare(folder);
}

}  // namespace shardlab::test
