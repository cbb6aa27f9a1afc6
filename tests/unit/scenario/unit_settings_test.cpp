// Settings of single units: the scenario's own with the overrides of parallel.wrap.
#include "engine/model/families/family.h"
#include "engine/model/wrap/wrap_modules.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_path.h"
#include "engine/scenario/resolve_units.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr std::string_view k_base = R"(
model: { config: tiny-llama, sequence_length: 128 }
cluster: { device: cpu, ranks: 2 }
parallel: { strategy: fsdp2 }
)";

// Validated or not: what is not built yet is settled all the same.
Scenario scenario_of(const std::string& precision, std::vector<WrapOverride> overrides) {
  auto scenario = parse_scenario(k_base, "a.yaml", std::vector<std::string>{"precision=" + precision});
  if (!scenario) FAIL(to_string(scenario.error()));
  scenario->parallel->wrap.overrides = std::move(overrides);
  return *scenario;
}

struct Resolved {
  ModelGraph graph;
  Result<SettingsByModule> settings;

  std::optional<ModuleId> find(std::string_view path) const {
    for (std::size_t i = 0; i < graph.modules.size(); ++i) {
      if (graph.modules[i].path == path) return make_id<ModuleId>(i);
    }
    return std::nullopt;
  }

  const UnitSettings& at(std::string_view path) const {
    if (!settings) FAIL(to_string(settings.error()));
    for (const auto& [module, unit] : *settings) {
      if (graph.module(module).path == path) return unit;
    }
    FAIL("no unit " << path);
    return settings->begin()->second;
  }
};

Resolved resolve(const Scenario& scenario, Backward backward = Backward::follows) {
  const auto path = resolve_model_config(scenario, *scenario.model);
  REQUIRE(path);
  const auto config = ModelConfig::read(*path, {});
  REQUIRE(config);
  auto graph = build_model_graph(*config, GraphOptions{});
  REQUIRE(graph);
  const auto wrapped = wrap_modules(*graph, scenario.parallel->wrap);
  REQUIRE(wrapped);
  auto settings = resolve_unit_settings(scenario, *graph, *wrapped, backward);
  return {*std::move(graph), std::move(settings)};
}

std::string error_of(const Scenario& scenario) {
  const Resolved resolved = resolve(scenario);
  return resolved.settings ? "no error" : to_string(resolved.settings.error());
}

}  // namespace

TEST_CASE("unit settings: without overrides every unit has the scenario's") {
  const Resolved plain = resolve(scenario_of("{}", {}));
  CHECK(plain.at("") == UnitSettings{{DType::float32, DType::float32, std::nullopt, false},
                                     {ReshardKind::by_place}});  // nothing to cast to
  const Resolved mixed = resolve(scenario_of("{param: bfloat16}", {}));
  CHECK(mixed.at("model.layers.0").precision ==
        UnitPrecision{DType::bfloat16, DType::bfloat16, std::nullopt, true});
}

TEST_CASE("unit settings: the last override of a key wins, the others stay") {
  const Scenario scenario = scenario_of(
      "{param: bfloat16, reduce: float32}",
      {{{"", "LlamaDecoderLayer", {}, {}},
        {{"reshard_after_forward", "false"}, {"precision.reduce", "none"}}},
       {{"model.layers.0", "", {}, {}}, {{"reshard_after_forward", "true"}, {"precision.output", "float32"}}},
       {{"", "LlamaForCausalLM", {}, {}},
        {{"precision.param", "none"}, {"precision.cast_forward_inputs", "false"}}}});
  const Resolved resolved = resolve(scenario);
  CHECK(resolved.at("model.layers.0") ==
        UnitSettings{{DType::bfloat16, DType::bfloat16, DType::float32, true}, {ReshardKind::always}});
  CHECK(resolved.at("model.layers.1") ==
        UnitSettings{{DType::bfloat16, DType::bfloat16, std::nullopt, true}, {ReshardKind::never}});
  CHECK(resolved.at("") ==
        UnitSettings{{DType::float32, DType::float32, std::nullopt, false}, {ReshardKind::by_place}});
}

TEST_CASE(
    "unit settings: reshard_after_forward is for the root where an override names it, or no backward "
    "follows") {
  Scenario scenario = scenario_of("{}", {});
  scenario.parallel->reshard_after_forward = {ReshardKind::always};
  CHECK(to_text(resolve(scenario).at("").reshard_after_forward) == "default");
  CHECK(to_text(resolve(scenario).at("model.layers.0").reshard_after_forward) == "true");
  CHECK(to_text(resolve(scenario, Backward::never).at("").reshard_after_forward) == "true");
  scenario.parallel->wrap.overrides = {{{"", "LlamaForCausalLM", {}, {}}, {{"reshard_after_forward", "2"}}}};
  CHECK(to_text(resolve(scenario).at("").reshard_after_forward) == "2");
  CHECK(to_text(resolve(scenario).at("model.layers.0").reshard_after_forward) == "true");
}

TEST_CASE("unit settings: native refuses to free a root that backward needs first") {
  Scenario scenario =
      scenario_of("{}", {{{"", "LlamaForCausalLM", {}, {}}, {{"reshard_after_forward", "true"}}}});
  scenario.parallel->strategy = "native";
  CHECK(error_of(scenario) ==
        "parallel.wrap.overrides[0].settings: reshard_after_forward: true has no effect on the root with "
        "strategy "
        "native: it never frees parameters that backward needs first (remove it, or use fsdp2)");
  CHECK(to_text(resolve(scenario, Backward::never).at("").reshard_after_forward) == "true");
  scenario.parallel->wrap.overrides[0].settings["reshard_after_forward"] = "false";
  CHECK(to_text(resolve(scenario).at("").reshard_after_forward) == "false");
}

TEST_CASE("unit settings: an override that names one of several joined modules is for their unit") {
  Scenario scenario = scenario_of("{}", {{{"lm_head", "", {}, {}}, {{"reshard_after_forward", "false"}}}});
  scenario.parallel->wrap.together = {{"model.norm", "lm_head"}};
  const Resolved resolved = resolve(scenario);
  CHECK(to_text(resolved.at("model.norm").reshard_after_forward) == "false");
  const std::vector<ModuleId> norm_and_head{*resolved.find("model.norm"), *resolved.find("lm_head")};
  CHECK(deciding_override(scenario, resolved.graph, norm_and_head, "reshard_after_forward") == 0U);
  CHECK_FALSE(deciding_override(scenario, resolved.graph, std::span(norm_and_head).first(1),
                                "reshard_after_forward"));
}

TEST_CASE("unit settings: without a param dtype a unit casts no inputs") {
  const Resolved resolved =
      resolve(scenario_of("{param: bfloat16, cast_forward_inputs: true}",
                          {{{"model.layers.1", "", {}, {}}, {{"precision.param", "none"}}}}));
  CHECK(resolved.at("model.layers.0").precision.cast_inputs);
  CHECK(resolved.at("model.layers.1").precision ==
        UnitPrecision{DType::float32, DType::float32, std::nullopt, false});
}

TEST_CASE("unit settings: FSDP1 does not cast inputs of units unless told") {
  Scenario scenario = scenario_of("{param: bfloat16}", {});
  scenario.parallel->strategy = "fsdp1";
  CHECK_FALSE(resolve(scenario).at("").precision.cast_inputs);
}

TEST_CASE("unit settings: an override that matches no unit is refused") {
  CHECK(error_of(scenario_of("{}", {{{"", "LlamaMLP", {}, {}}, {{"precision.param", "float32"}}}})) ==
        "parallel.wrap.overrides[0].match: 'model.layers.0.mlp' (LlamaMLP) matches, but is no unit (units "
        "are of class "
        "LlamaForCausalLM, LlamaDecoderLayer)");
  CHECK(error_of(scenario_of("{}", {{{"model.layer.0", "", {}, {}}, {}}})) ==
        "parallel.wrap.overrides[0].match.path: no module's path matches 'model.layer.0' (did you mean "
        "'model.layers.0'?)");
}

}  // namespace shardlab
