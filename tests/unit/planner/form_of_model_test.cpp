// Which form of its operators a model is planned in, where the scenario leaves it open.
#include "engine/planner/load_model.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

// Alibi with one key head for all query heads has no eager form.
Scenario falcon(const std::string& more) {
  const auto scenario =
      parse_scenario("model: {config: falcon-7b, sequence_length: 64, overrides: {num_hidden_layers: 2" +
                         more + "}\ncluster: {node: hgx-h100}\nparallel: {strategy: fsdp2}\n",
                     "a.yaml");
  REQUIRE_OK(scenario);
  return *scenario;
}

}  // namespace

TEST_CASE("a model without an eager form is planned with fused operators, unless eager was asked for") {
  const auto open = plan_scenario(falcon(", alibi: true}"));
  REQUIRE_OK(open);
  CHECK(open->graph.implementation == Implementation::fused);
  REQUIRE_OK(load_model_graph(falcon(", alibi: true}")));
  const auto eager = plan_scenario(falcon(", alibi: true}, implementation: eager"));
  REQUIRE_FALSE(eager.has_value());
  CHECK(eager.error().code == ErrorCode::no_eager_form);
  CHECK(eager.error().place.name == "model.implementation");
}

TEST_CASE("a model with an eager form has it on GPUs") {
  const auto planned = plan_scenario(falcon("}"));
  REQUIRE_OK(planned);
  CHECK(planned->graph.implementation == Implementation::eager);
}

TEST_CASE("a distillation has an eager form") {
  const auto scenario = parse_scenario(
      "model: {config: tiny-llama, sequence_length: 64}\ncluster: {node: hgx-h100}\n"
      "parallel: {strategy: fsdp2}\ndistillation: {teacher: {config: tiny-llama}}\n",
      "a.yaml");
  REQUIRE_OK(scenario);
  const auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  CHECK(planned->graph.implementation == Implementation::eager);
  CHECK(planned->graph.operators.back().type->name == "eager_distillation_loss");
}

}  // namespace shardlab
