// Families against what transformers made of the same weights and batch. Not a test of its own:
// tests/peers/families.py runs it and says in SHARDLAB_PEER_FOLDER where the files are, one folder a model.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "engine/checkpoint/safetensors.h"
#include "engine/model/operators/operator_list.h"
#include "engine/planner/load_model.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/unit/execute/torch/model_run.h"

namespace shardlab::test {
namespace {

constexpr double k_logits = 1e-5;    // of the largest logit
constexpr double k_gradient = 1e-4;  // of the largest element of the parameter's gradient
constexpr double k_nothing =
    1e-6;  // of the largest of all: gradients that are zero but for rounding (biases of keys)
constexpr double k_parameter = 1e-4;     // of the largest element, after the training
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

ModelGraph graph_of(const std::filesystem::path& folder, Implementation implementation,
                    DType dtype = DType::float32) {
  std::vector<std::string> overrides{"model.dtype=" + std::string(to_string(dtype))};
  if (implementation == Implementation::eager) overrides.emplace_back("model.implementation=eager");
  const auto scenario = read_scenario((folder / "scenario.yaml").string(), overrides);
  REQUIRE_OK(scenario);
  auto graph = load_model_graph(*scenario);
  REQUIRE_OK(graph);
  return *std::move(graph);
}

// The largest difference of a gradient, each relative to its own largest element; frozen parameters have
// none.
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

// The largest difference of a parameter after the same training, which tests/peers/families.py ran.
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

void compare(const std::filesystem::path& folder, Implementation implementation) {
  const bool eager = implementation == Implementation::eager;
  INFO(folder.filename().string() << (eager ? ", eager" : ""));
  const c10::InferenceMode inference;
  const ModelGraph graph = graph_of(folder, implementation);
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
      "{}{}: logits {:.1e} (limit {:.0e}), loss {:.1e}, worst gradient of {} {:.1e} (limit {:.0e}), worst "
      "parameter after training {:.1e} (limit {:.0e})\n",
      folder.filename().string(), eager ? ", eager" : "", logits, k_logits, loss, graph.parameters.size(),
      worst_gradient(graph, run, expected), k_gradient, worst_parameter(graph, folder), k_parameter);
}

bool lies_in(const ModelGraph& graph, ModuleId module, ModuleId ancestor) {
  for (std::optional<ModuleId> id = module; id; id = graph.module(*id).parent) {
    if (*id == ancestor) return true;
  }
  return false;
}

// Experts compute in operators of ours, whatever the implementation.
bool among_experts(const ModelGraph& graph, ModuleId module) {
  for (std::optional<ModuleId> id = module; id; id = graph.module(*id).parent) {
    if (graph.module(*id).class_name.ends_with("SparseMoeBlock")) return true;
  }
  return false;
}

// What the descriptions say that a block keeps: tensors once, constants and experts left out.
Bytes kept_by(const ModelGraph& graph, ModuleId block) {
  std::set<std::uint32_t> kept;
  Bytes sum;
  const auto keep = [&](TensorId id) {
    if (graph.tensor(id).role == TensorRole::activation && kept.insert(id.value).second)
      sum += graph.tensor(id).bytes();
  };
  for (const Operator& op : graph.operators) {
    if (!lies_in(graph, op.module, block) || among_experts(graph, op.module)) continue;
    const OperatorDescription description = describe_operator(graph, op);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (description.saved_inputs >> i & 1U) keep(op.inputs[i]);
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (description.saved_outputs >> i & 1U) keep(op.outputs[i]);
    }
    // Torch's layer_norm keeps its statistics in the tensor's dtype on a processor; in float32, as described,
    // on a GPU.
    const bool narrow = op.type == &k_layer_norm;
    for (const ExtraTensor& extra : description.extras)
      sum += bytes_of(element_count(extra.shape), narrow ? graph.tensor(op.inputs[0]).dtype : extra.dtype);
  }
  return sum;
}

// What operators keep of the constants that the model hands to them all.
Bytes kept_of_constants(const ModelGraph& graph) {
  std::set<std::uint32_t> kept;
  Bytes sum;
  for (const Operator& op : graph.operators) {
    const OperatorDescription description = describe_operator(graph, op);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const Tensor& tensor = graph.tensor(op.inputs[i]);
      const bool constant = tensor.role == TensorRole::constant && (description.saved_inputs >> i & 1U);
      if (constant && kept.insert(op.inputs[i].value).second) sum += tensor.bytes();
    }
  }
  return sum;
}

Bytes kept_by(const ModelGraph& graph, const std::string& path) {
  if (path == "shared") return kept_of_constants(graph);
  const auto block = std::find_if(graph.modules.begin(), graph.modules.end(),
                                  [&](const Module& module) { return module.path == path; });
  REQUIRE(block != graph.modules.end());
  return kept_by(graph, make_id<ModuleId>(static_cast<std::size_t>(block - graph.modules.begin())));
}

// Lines "dtype block bytes" that the worker wrote from saved-tensor hooks.
int compare_kept(const std::filesystem::path& folder) {
  std::ifstream file(folder / "kept.txt");
  REQUIRE(file);
  int blocks = 0;
  std::string dtype, path;
  for (std::int64_t bytes = 0; file >> dtype >> path >> bytes; ++blocks) {
    const ModelGraph graph = graph_of(folder, Implementation::eager, *parse_dtype(dtype));
    INFO(folder.filename().string() << ", " << dtype << ", " << path);
    CHECK(kept_by(graph, path) == Bytes{bytes});
    fmt::print("{}, {}, {}: keeps {} B, described {} B\n", folder.filename().string(), dtype, path, bytes,
               kept_by(graph, path).value);
  }
  return blocks;
}

// And no variant of one, with adapters for instance.
bool is_a_family(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / "kept.txt");
}

std::vector<std::filesystem::path> folders() {
  const char* place = std::getenv("SHARDLAB_PEER_FOLDER");
  REQUIRE(place != nullptr);
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(place)) {
    if (entry.is_directory()) found.push_back(entry.path());
  }
  REQUIRE_FALSE(found.empty());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST_CASE("logits and gradients are those of transformers", "[.peer]") {
  for (const auto& folder : folders()) {
    compare(folder, Implementation::fused);
    if (is_a_family(folder)) compare(folder, Implementation::eager);
  }
}

TEST_CASE("eager blocks keep the bytes that autograd keeps of transformers' modules", "[.peer]") {
  for (const auto& folder : folders()) {
    if (is_a_family(folder)) CHECK(compare_kept(folder) >= 6);
  }
}

}  // namespace shardlab::test
