#include "simulator/remedies/shared_remedies.h"

#include <optional>

#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "simulator/alternatives/predict_with.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {

// Whole and in 32 bits on every rank, which is what a teacher is where nothing is said.
TEST_CASE("remedies shard a teacher and narrow it: its bits are none of what is trained") {
  const auto file = test::source_folder() / "scenarios/distillation/qwen3-30b-a3b-distilled-8xh100.yaml";
  const auto scenario = read_scenario(file.string());
  REQUIRE_OK(scenario);
  const auto whole =
      predict_with(plan_scenario(*scenario).value(), "distillation.teacher=qwen3-30b-a3b", nullptr);
  REQUIRE_OK(whole);
  const std::vector<Remedy> remedies = shared_remedies(whole->planned, whole->run);
  const auto step_of = [&](const std::string& setting) {
    for (const Remedy& each : remedies)
      if (each.levels == std::vector<std::vector<std::string>>{{setting}}) return std::optional(each.step);
    return std::optional<RemedyStep>();
  };
  CHECK(step_of("distillation.teacher.parallel={strategy: fsdp2}") == RemedyStep::sharding);
  CHECK(step_of("distillation.teacher.dtype=bfloat16") == RemedyStep::lower_types);
  CHECK(step_of("model.dtype=bfloat16") == std::nullopt);
}

}  // namespace shardlab
