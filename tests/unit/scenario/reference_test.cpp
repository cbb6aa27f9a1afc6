#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/resolve_path.h"
#include "engine/scenario/train_spec.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

TEST_CASE("reference: docs/scenario.md is what the tables say") {
  std::ifstream stream(test::source_folder() / "docs/scenario.md", std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(stream), {}};
  INFO("to renew it: shardlab scenario --document > docs/scenario.md");
  const bool same = committed == scenario_reference();
  CHECK(same);
}

TEST_CASE("reference: every key of the struct's sections is there") {
  const std::string text = scenario_reference();
  for (const char* key :
       {"`name`", "`semantics.pytorch`", "`model.lora.targets`", "`distillation.teacher.config`",
        "`distillation.weight`", "`cluster.allocator.conf`", "`parallel.wrap.match[].class`",
        "`parallel.zero`", "`precision.autocast`", "`scaler.backoff`", "`activation.every`",
        "`offload.ratio`", "`train.schedule.total_steps`", "`checkpoint.resume`", "`launch.env`",
        "`measure.tolerance`", "`limits.objective`"}) {
    INFO(key);
    CHECK(text.find(key) != std::string::npos);
  }
}

TEST_CASE("shipped scenarios are read, have a device and a mesh, and their files exist") {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(test::source_folder() / "scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    if (entry.path().parent_path().filename() == "search") continue;  // search files, which name a scenario
    if (entry.path().string().find("/scenarios/lessons/") != std::string::npos) continue;  // cli.lessons
    ++count;
    INFO(entry.path());
    const auto scenario = read_scenario(entry.path());
    REQUIRE_OK(scenario);
    CHECK(scenario->name == entry.path().stem());
    CHECK(resolve_mesh(*scenario).ranks() == world_size(*scenario));
    const auto device = resolve_device(*scenario->cluster);
    REQUIRE_OK(device);
    CHECK(device->ranks == world_size(*scenario));
    CHECK(resolve_model_config(*scenario, *scenario->model).has_value());
    for (const std::string& data : scenario->train->data) CHECK(resolve_path(*scenario, data).has_value());
  }
  CHECK(count >= 11);
}

}  // namespace
}  // namespace shardlab
