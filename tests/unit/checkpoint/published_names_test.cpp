// Weights of experts under the names that files on the hub have, one by one: found, read in ranges, and what
// is missing named.
#include <numeric>

#include "engine/checkpoint/model_weights.h"
#include "engine/checkpoint/published_names.h"
#include "engine/model/families/family.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::test {
namespace {

ModelGraph small_model(const std::string& family) {
  const auto config = ModelConfig::read(data_file("families/" + family + ".json"), {});
  REQUIRE_OK(config);
  auto graph = build_model_graph(*config, GraphOptions{1, 8});
  REQUIRE_OK(graph);
  return *std::move(graph);
}

// Every published tensor holds the numbers of its elements within the parameter.
class Checkpoint {
 public:
  explicit Checkpoint(const ModelGraph& graph) {
    for (const Parameter& parameter : graph.parameters) {
      std::vector<PublishedTensor> tensors = published_tensors(graph, parameter);
      if (tensors.empty()) tensors = {{parameter.name, parameter.shape, 0}};
      for (const PublishedTensor& tensor : tensors) {
        auto& values = values_[tensor.name];
        values.resize(static_cast<std::size_t>(element_count(tensor.shape)));
        std::iota(values.begin(), values.end(), static_cast<float>(tensor.first));
        shapes_[tensor.name] = tensor.shape;
      }
    }
  }

  Result<SafetensorsReader> written_without(const std::string& left_out) const {
    std::vector<TensorToWrite> all;
    for (const auto& [name, values] : values_) {
      if (name != left_out)
        all.push_back({name, DType::float32, shapes_.at(name), std::as_bytes(std::span(values))});
    }
    const std::filesystem::path file = folder_.path() / "model.safetensors";
    SHARDLAB_CHECK_OK(write_safetensors(file, all));
    return SafetensorsReader::open(file);
  }

 private:
  std::map<std::string, std::vector<float>> values_;
  std::map<std::string, Shape> shapes_;
  TemporaryFolder folder_;
};

const Parameter& parameter_of(const ModelGraph& graph, const std::string& name) {
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.name == name) return parameter;
  }
  FAIL(name);
  return graph.parameters.front();
}

}  // namespace

TEST_CASE("published names of experts") {
  const ModelGraph mixtral = small_model("mixtral"), qwen = small_model("qwen3_moe");
  const auto gate_up =
      published_tensors(mixtral, parameter_of(mixtral, "model.layers.1.mlp.experts.gate_up_proj"));
  REQUIRE(gate_up.size() == 10);
  CHECK(gate_up[3].name == "model.layers.1.block_sparse_moe.experts.1.w3.weight");
  CHECK(gate_up[3].shape == Shape{80, 48});
  CHECK(gate_up[3].first == 3 * 80 * 48);
  const auto router = published_tensors(mixtral, parameter_of(mixtral, "model.layers.0.mlp.gate.weight"));
  REQUIRE(router.size() == 1);
  CHECK(router[0].name == "model.layers.0.block_sparse_moe.gate.weight");
  const auto down = published_tensors(qwen, parameter_of(qwen, "model.layers.0.mlp.experts.down_proj"));
  REQUIRE(down.size() == 6);
  CHECK(down[5].name == "model.layers.0.mlp.experts.5.down_proj.weight");
  CHECK(down[5].shape == Shape{48, 24});
  CHECK(published_tensors(qwen, parameter_of(qwen, "model.layers.0.mlp.gate.weight")).empty());
  const ModelGraph llama = small_model("llama");
  for (const Parameter& parameter : llama.parameters) CHECK(published_tensors(llama, parameter).empty());
}

TEST_CASE("a range of a stacked weight is read across the tensors that hold it") {
  const ModelGraph graph = small_model("mixtral");
  const Checkpoint checkpoint(graph);
  const auto reader = checkpoint.written_without("");
  REQUIRE_OK(reader);
  REQUIRE_OK(match_model(*reader, graph));
  const Parameter& parameter = parameter_of(graph, "model.layers.0.mlp.experts.gate_up_proj");
  std::vector<float> values(9000);  // more than two tensors of 80 x 48
  REQUIRE_OK(read_parameter(*reader, graph, parameter, 3000, values));
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += values[i] != static_cast<float>(3000 + i);
  CHECK(wrong == 0);
}

TEST_CASE("an expert that a checkpoint lacks is named") {
  const ModelGraph graph = small_model("mixtral");
  const std::string lacking = "model.layers.1.block_sparse_moe.experts.4.w2.weight";
  const Checkpoint checkpoint(graph);
  const auto reader = checkpoint.written_without(lacking);
  REQUIRE_OK(reader);
  const Status status = match_model(*reader, graph);
  REQUIRE_FALSE(status);
  CHECK_THAT(to_string(status.error()), contains_text("missing: " + lacking));
}

}  // namespace shardlab::test
