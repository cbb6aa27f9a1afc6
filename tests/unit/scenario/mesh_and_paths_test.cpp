#include <filesystem>
#include <fstream>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_path.h"
#include "engine/scenario/validate.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

Scenario of(const std::string& strategy, int ranks) {
  Scenario scenario;
  scenario.model->config = "tiny-llama";
  scenario.model->sequence_length = 16;
  scenario.cluster->device = DeviceKind::cpu;
  scenario.cluster->ranks = ranks;
  scenario.parallel->strategy = strategy;
  return scenario;
}

TEST_CASE("mesh: open dimensions take what is left") {
  CHECK(resolve_mesh(of("none", 1)) == ResolvedMesh{1, 1, 1, 1});
  CHECK(resolve_mesh(of("ddp", 4)) == ResolvedMesh{4, 1, 1, 1});
  CHECK(resolve_mesh(of("fsdp2", 4)) == ResolvedMesh{1, 4, 1, 1});
  CHECK(resolve_mesh(of("zero1", 4)) == ResolvedMesh{1, 4, 1, 1});
  Scenario no_shard = of("fsdp1", 4);
  no_shard.parallel->sharding = Fsdp1Sharding::no_shard;
  CHECK(resolve_mesh(no_shard) == ResolvedMesh{4, 1, 1, 1});
  Scenario hybrid = of("fsdp2", 16);
  hybrid.parallel->mesh = {2, 0, 2, 1};
  CHECK(resolve_mesh(hybrid) == ResolvedMesh{2, 4, 2, 1});
  CHECK(validate_scenario(hybrid).has_value());
  hybrid.parallel->mesh = {3, 0, 2, 1};
  CHECK_FALSE(validate_scenario(hybrid).has_value());
}

TEST_CASE("mesh: ranks of a cluster") {
  CHECK(world_size(of("ddp", 3)) == 3);
  Scenario gpus;
  gpus.cluster->gpu = "H100-SXM";
  gpus.cluster->gpus_per_node = 8;
  gpus.cluster->nodes = 4;
  CHECK(world_size(gpus) == 32);
}

TEST_CASE("validate: a value that no file was read for") {
  CHECK(validate_scenario(of("fsdp2", 2)).has_value());
  Scenario wrong = of("ddp", 2);
  wrong.parallel->reshard_after_forward = {ReshardKind::never};
  const auto status = validate_scenario(wrong);
  REQUIRE_FALSE(status.has_value());
  CHECK(message_text(status.error()) == "parallel.reshard_after_forward: has no effect with strategy ddp");
  CHECK(status.error().place.name == "parallel.reshard_after_forward");
}

TEST_CASE("paths: beside the scenario first, then what is shipped") {
  test::TemporaryFolder folder;
  std::ofstream(folder.path() / "text.txt") << "text";
  std::filesystem::create_directory(folder.path() / "model");
  std::ofstream(folder.path() / "model" / "config.json") << "{}";
  Scenario scenario = of("none", 1);
  scenario.directory = folder.path().string();

  CHECK(resolve_path(scenario, "text.txt").value() == folder.path() / "text.txt");
  CHECK(resolve_path(scenario, (folder.path() / "text.txt").string()).value() == folder.path() / "text.txt");
  CHECK(resolve_path(scenario, "assets/data/licenses.txt").value().filename() == "licenses.txt");
  CHECK_FALSE(resolve_path(scenario, "assets/../README.md").has_value());
  CHECK_FALSE(resolve_path(scenario, "").has_value());
  CHECK_FALSE(resolve_path(scenario, "absent.txt").has_value());

  CHECK(resolve_model_config(scenario, *scenario.model).value().parent_path().filename() == "tiny-llama");
  scenario.model->config = "model";
  CHECK(resolve_model_config(scenario, *scenario.model).value() == folder.path() / "model" / "config.json");
  scenario.model->config = "model/config.json";
  CHECK(resolve_model_config(scenario, *scenario.model).value() == folder.path() / "model" / "config.json");
}

TEST_CASE("paths: a name of the Hub means what ships, unless there is a folder of that name") {
  test::TemporaryFolder folder;
  Scenario scenario = of("none", 1);
  scenario.directory = folder.path().string();
  scenario.model->config = "Qwen/Qwen3-8B";
  CHECK(resolve_model_config(scenario, *scenario.model).value().parent_path().filename() == "qwen3-8b");
  CHECK(own_model_name(scenario, "Llama-3-70B").value() == "llama-3-70b");
  CHECK(own_model_name(scenario, "Qwen/Qwen3-8B").value() == "Qwen/Qwen3-8B");  // it stays the Hub's
  scenario.model->config = "qwen3-30b";
  CHECK(resolve_model_config(scenario, *scenario.model).error().hint == "did you mean 'qwen3-30b-a3b'?");
  scenario.model->config = "Qwen/Qwen3-9B";
  const auto unknown = resolve_model_config(scenario, *scenario.model);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().what == "no such folder, and no model of the Hub that ships: Qwen/Qwen3-9B");
  CHECK_THAT(unknown.error().hint, test::contains_text("paths are relative to the scenario's folder"));

  std::filesystem::create_directories(folder.path() / "Qwen/Qwen3-8B");
  std::ofstream(folder.path() / "Qwen/Qwen3-8B/config.json") << "{}";
  scenario.model->config = "Qwen/Qwen3-8B";
  CHECK(resolve_model_config(scenario, *scenario.model).value() ==
        folder.path() / "Qwen/Qwen3-8B" / "config.json");
}

TEST_CASE("paths: a scenario read from elsewhere remembers its folder") {
  test::TemporaryFolder folder;
  std::ofstream(folder.path() / "s.yaml")
      << "model: { config: tiny-llama, sequence_length: 16 }\ncluster: { device: cpu, ranks: 1 }\n";
  const auto scenario = read_scenario(folder.path() / "s.yaml");
  REQUIRE_OK(scenario);
  CHECK(scenario->directory == folder.path().string());
  CHECK(scenario->name == "s");
}

}  // namespace
}  // namespace shardlab
