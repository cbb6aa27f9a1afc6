// Where parameters come from: the seed, whatever the number of ranks, or a checkpoint; and what is saved
// reads back.
#include <ATen/ATen.h>

#include "engine/checkpoint/safetensors.h"
#include "engine/model/initial_weights.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

NamedTensors parameters_after_setup(const PlannedScenario& planned) {
  NamedTensors parameters;
  const Status done = run_ranks(planned, [&](RankExecutor& executor, int rank) -> Status {
    for (const Parameter& parameter : planned.graph.parameters) {
      SHARDLAB_TRY(const at::Tensor whole, executor.full_parameter(parameter.name));
      if (rank == 0) parameters[parameter.name] = whole;
    }
    return {};
  });
  REQUIRE_OK(done);
  return parameters;
}

NamedTensors from_formula(const ModelGraph& graph, std::uint64_t seed) {
  NamedTensors expected;
  for (const Parameter& parameter : graph.parameters) {
    const at::Tensor values = at::empty(parameter.shape, at::kFloat);
    fill_initial_weights(parameter, seed, 0,
                         {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())});
    expected[parameter.name] = values;
  }
  return expected;
}

void write(const std::filesystem::path& file, const NamedTensors& tensors) {
  std::vector<TensorToWrite> all;
  for (const auto& [name, tensor] : tensors) {
    all.push_back(
        {name, DType::float32, tensor.sizes().vec(),
         std::as_bytes(std::span(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())))});
  }
  REQUIRE_OK(write_safetensors(file, all));
}

std::vector<Spread> homes() {
  return {{"none", 1, 1, ""}, {"ddp", 2, 1, ""}, {"fsdp2", 2, 1, "true"}, {"fsdp2", 4, 1, "true"}};
}

}  // namespace

TEST_CASE("weights from a seed are the same on any number of ranks") {
  for (const Spread& spread : homes()) {
    INFO(spread.name());
    const PlannedScenario planned =
        planned_text(k_small_model, joined({"train.seed=11"}, spread.overrides()));
    const NamedTensors parameters = parameters_after_setup(planned);
    CHECK(bitwise_equal(parameters, from_formula(planned.graph, 11)));
    CHECK_FALSE(bitwise_equal(parameters, from_formula(planned.graph, 12)));
  }
}

TEST_CASE("weights from a checkpoint with published names are the file's on any number of ranks") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model.safetensors";
  const NamedTensors written = from_formula(planned_text(k_small_model).graph, 99);
  REQUIRE(written.count("model.layers.2.self_attn.k_proj.weight") == 1);
  REQUIRE(written.count("model.embed_tokens.weight") == 1);
  write(file, written);
  for (const Spread& spread : homes()) {
    INFO(spread.name());
    const PlannedScenario planned =
        planned_text(k_small_model, joined({"model.weights=" + file.string()}, spread.overrides()));
    CHECK(bitwise_equal(parameters_after_setup(planned), written));
  }
}

TEST_CASE("trained weights that were saved are what the next run starts from") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "trained.safetensors";
  const Result<Trained> trained =
      train(planned_text(k_small_model, Spread{"fsdp2", 2, 1, "true"}.overrides()), 2);
  REQUIRE_OK(trained);
  REQUIRE_FALSE(bitwise_equal(trained->parameters, trained->initial));
  write(file, trained->parameters);
  const auto again = planned_text(
      k_small_model, joined({"model.weights=" + file.string()}, Spread{"fsdp2", 4, 1, "false"}.overrides()));
  CHECK(bitwise_equal(parameters_after_setup(again), trained->parameters));
}

}  // namespace shardlab::test
