// Several modules that are one unit: which they are, what lies in it, when execution enters and leaves it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/paths.h"
#include "engine/model/families/family.h"
#include "engine/model/partition.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

using Lists = std::vector<std::vector<std::string>>;

ModelGraph llama(std::map<std::string, std::string> overrides = {}) {
  const auto path = find_asset("models/tiny-llama/config.json");
  REQUIRE(path);
  overrides["num_hidden_layers"] = "2";
  const auto config = ModelConfig::read(*path, overrides);
  REQUIRE(config);
  auto graph = build_model_graph(*config, GraphOptions{});
  REQUIRE(graph);
  return *std::move(graph);
}

WrapSpec together(Lists lists) {
  WrapSpec spec;
  spec.together = std::move(lists);
  return spec;
}

Partition partition_of(const ModelGraph& graph, const WrapSpec& spec) {
  const auto wrapped = wrap_modules(graph, spec);
  if (!wrapped) FAIL(to_string(wrapped.error()));
  return make_partition(graph, wrapped->units, {}, {}, wrapped->ignored, wrapped->joined);
}

// "u2 model.norm+lm_head s3", line by line.
std::string text_of(const ModelGraph& graph, const Partition& partition) {
  std::string text;
  for (const Unit& unit : partition.units) {
    std::vector<std::string> segments;
    for (const SegmentId id : unit.segments) segments.push_back(partition.segment(id).name);
    text += fmt::format("{} {} {}\n", unit.name, unit.path(graph), fmt::join(segments, " "));
  }
  return text;
}

std::vector<std::string> parameters_of(const ModelGraph& graph, const Unit& unit) {
  std::vector<std::string> names;
  for (const ParameterId id : unit.parameters) names.push_back(graph.parameter(id).name);
  return names;
}

std::string error_of(const ModelGraph& graph, const WrapSpec& spec) {
  const auto wrapped = wrap_modules(graph, spec);
  return wrapped ? "no error" : to_string(wrapped.error());
}

}  // namespace

TEST_CASE("norm and head are one unit, and the loss is not part of it") {
  const ModelGraph graph = llama();
  const Partition partition = partition_of(graph, together({{"model.norm", "lm_head"}}));
  CHECK(text_of(graph, partition) ==
        "root  s0 s4\nu0 model.layers.0 s1\nu1 model.layers.1 s2\nu2 model.norm+lm_head s3\n");
  const Unit& unit = partition.units[3];
  CHECK(unit.class_name(graph) == "LlamaRMSNorm+Linear");
  CHECK(parameters_of(graph, unit) == std::vector<std::string>{"model.norm.weight", "lm_head.weight"});
  CHECK(unit.inputs_require_grad);
  CHECK(unit.outputs_require_grad);
}

TEST_CASE("parameters lie in the order in which the modules are given") {
  const ModelGraph graph = llama();
  const Partition partition = partition_of(graph, together({{"lm_head", "model.norm"}}));
  CHECK(parameters_of(graph, partition.units[3]) ==
        std::vector<std::string>{"lm_head.weight", "model.norm.weight"});
}

TEST_CASE("joined modules are a unit whatever the policy makes of them") {
  const ModelGraph graph = llama();
  CHECK(text_of(graph, partition_of(graph, together({{"model.layers.*"}}))) ==
        "root  s0 s2\nu0 model.layers.0+model.layers.1 s1\n");
  WrapSpec none = together({{"model.norm", "lm_head"}});
  none.policy = WrapPolicyKind::none;
  CHECK(partition_of(graph, none).units.size() == 2);
  // What lies within another module of the list belongs to that one.
  CHECK(text_of(graph, partition_of(
                           graph, together({{"model.layers.0", "model.layers.0.mlp", "model.layers.1"}}))) ==
        "root  s0 s2\nu0 model.layers.0+model.layers.1 s1\n");
}

TEST_CASE("hooks of backward hang on the first and the last of joined modules") {
  const ModelGraph graph = llama();
  // Nothing that requires a gradient enters the embedding: FSDP2 comes to its unit in the final callback.
  const Unit unit = partition_of(graph, together({{"model.embed_tokens", "lm_head"}})).units[1];
  CHECK(unit.name == "u0");
  CHECK_FALSE(unit.inputs_require_grad);
  CHECK(unit.outputs_require_grad);
}

TEST_CASE("tied parameters may be tied within joined modules") {
  const ModelGraph graph = llama({{"tie_word_embeddings", "true"}});
  const Partition partition =
      partition_of(graph, together({{"model.embed_tokens", "model.norm", "lm_head"}}));
  CHECK(parameters_of(graph, partition.units[1]) ==
        std::vector<std::string>{"model.embed_tokens.weight", "model.norm.weight"});
  CHECK_THAT(error_of(graph, together({{"model.norm", "lm_head"}})),
             contains_text("splits the tied parameter 'model.embed_tokens.weight'"));
}

TEST_CASE("what cannot be joined is refused by name") {
  const ModelGraph graph = llama();
  const auto error = [&](const Lists& lists) { return error_of(graph, together(lists)); };
  CHECK(error({{"model.norm", "lm_haed"}}) ==
        "parallel.wrap.together[0][1]: no module of this model matches 'lm_haed' (did you mean 'lm_head'?)");
  CHECK_THAT(error({{"lm_head"}}), contains_text("parallel.wrap.together[0]: names one module alone"));
  CHECK_THAT(error({{"model.layers", "lm_head"}}),
             contains_text("'model.layers' is a ModuleList, which has no forward"));
  CHECK_THAT(error({{"**", "lm_head"}}), contains_text("names the model itself"));
  CHECK_THAT(error({{"model.norm", "lm_head"}, {"lm_head", "model.embed_tokens"}}),
             contains_text("parallel.wrap.together[1]: 'lm_head' is in another list already"));
  CHECK_THAT(error({{"model.layers.0.mlp", "lm_head"}}),
             contains_text("'model.layers.0.mlp' and 'lm_head' lie in different units"));
  ModelGraph frozen = llama();
  for (Parameter& parameter : frozen.parameters) parameter.trainable = parameter.requires_grad = false;
  WrapSpec spec = together({{"model.norm", "lm_head"}});
  spec.ignored = {"model.norm"};
  CHECK_THAT(error_of(frozen, spec), contains_text("'model.norm' is one of parallel.wrap.ignored"));
}

}  // namespace shardlab::test
