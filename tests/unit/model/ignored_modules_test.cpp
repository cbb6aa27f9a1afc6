// Modules that stay outside all units.
#include "engine/model/wrap/ignored_modules.h"

#include "engine/base/paths.h"
#include "engine/model/families/family.h"
#include "engine/model/freeze.h"
#include "engine/model/partition.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

ModelGraph llama(const std::vector<std::string>& frozen,
                 const std::map<std::string, std::string>& overrides = {}) {
  const auto path = find_asset("models/tiny-llama/config.json");
  REQUIRE(path);
  const auto config = ModelConfig::read(*path, overrides);
  REQUIRE(config);
  auto graph = build_model_graph(*config, GraphOptions{});
  REQUIRE(graph);
  REQUIRE_OK(freeze_parameters(*graph, frozen));
  return *std::move(graph);
}

std::string refusal(const ModelGraph& graph, const std::vector<std::string>& patterns) {
  const auto ignored = ignored_modules(graph, patterns);
  return ignored ? "nothing refused" : to_string(ignored.error());
}

}  // namespace

TEST_CASE("ignored modules are no part of units, and what they hold is apart") {
  const ModelGraph graph = llama({"model.embed_tokens", "model.layers.1", "model.layers.2.mlp"});
  WrapSpec spec;
  spec.ignored = {"model.embed_tokens", "model.layers.1", "model.layers.1.mlp", "model.layers.2.mlp"};
  const auto wrapped = wrap_modules(graph, spec);
  REQUIRE_OK(wrapped);
  REQUIRE(wrapped->ignored.size() == 3);  // the one inside another is part of it
  CHECK(wrapped->units.size() == 6);      // the root and five of the six layers
  const Partition partition = make_partition(graph, wrapped->units, {}, {}, wrapped->ignored);
  REQUIRE(partition.units.size() == 9);
  std::int64_t elements = 0;
  for (const Unit& unit : partition.units) elements += unit.elements(graph);
  CHECK(elements == total_parameters(graph));
  CHECK(partition.units[6].ignored);
  CHECK(partition.units[6].name == "ignored0");
  CHECK(partition.units[6].segments.empty());
  CHECK(partition.units[7].elements(graph) == partition.units[1].elements(graph));
  CHECK_FALSE(partition.units[0].ignored);
}

TEST_CASE("what cannot be ignored is refused by name") {
  const ModelGraph graph = llama({"model.layers.1"});
  CHECK(refusal(graph, {"model.layer.1"}) ==
        "parallel.wrap.ignored: no module of this model matches 'model.layer.1' (did you mean "
        "'model.layers.1'?)");
  CHECK(refusal(graph, {"model.layers.*"}) ==
        "parallel.wrap.ignored: model.layers.0.self_attn.q_proj.weight is trained: nobody would reduce the "
        "gradients of an ignored "
        "parameter, and the ranks would drift apart (freeze it with model.frozen, or leave it to a unit)");
  const ModelGraph tied = llama({"model.embed_tokens"}, {{"tie_word_embeddings", "true"}});
  CHECK(refusal(tied, {"model.embed_tokens"}) ==
        "parallel.wrap.ignored: model.embed_tokens.weight is tied to a parameter of 'lm_head' (ignore both "
        "modules or none)");
  CHECK(refusal(graph, {}) == "nothing refused");
}

}  // namespace shardlab::test
