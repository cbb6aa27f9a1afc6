// How a scenario says how tokens spread over experts, and what does not fit the model.
#include "engine/scenario/expert_load.h"

#include <fstream>

#include "engine/model/families/family.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using Lists = std::vector<std::vector<double>>;

Result<Lists> shares(const std::string& moe) {
  const auto scenario = parse_scenario("model: {config: mixtral-8x7b, sequence_length: 8, moe: " + moe +
                                           "}\ncluster: {device: cpu, ranks: 1}\n",
                                       "s.yaml");
  if (!scenario) return tl::unexpected(scenario.error());
  return expert_shares(*scenario);
}

std::string refusal(const std::string& moe) {
  const Result<Lists> found = shares(moe);
  REQUIRE_FALSE(found);
  return to_string(found.error());
}

// Two layers with 5 experts, 2 of a token.
Status check(const Lists& lists) {
  const auto config = ModelConfig::read(test::data_file("families/mixtral.json"), {});
  REQUIRE_OK(config);
  auto graph = build_model_graph(*config, {1, 8});
  REQUIRE_OK(graph);
  graph->expert_shares = lists;
  return check_expert_shares(*graph);
}

std::string written(const test::TemporaryFolder& folder, const std::string& text) {
  const std::filesystem::path file = folder.path() / "load.json";
  std::ofstream(file) << text;
  return "{load: measured, measured: '" + file.string() + "'}";
}

TEST_CASE("a list of shares is one for all layers, made to add up to 1") {
  CHECK(shares("{load: balanced}")->empty());
  CHECK(shares("{load: worst}")->empty());
  CHECK(*shares("{load: [2, 1, 1, 0]}") == Lists{{0.5, 0.25, 0.25, 0}});
  CHECK_THAT(refusal("{load: [0, 0]}"), test::contains_text("the shares of all experts are zero"));
}

TEST_CASE("a recorded load has a list for each layer") {
  const test::TemporaryFolder folder;
  CHECK(*shares(written(folder, R"({"layers": [{"assignments": [3, 1]}, {"assignments": [0, 8]}]})")) ==
        Lists{{0.75, 0.25}, {0, 1}});
  CHECK_THAT(refusal(written(folder, "{}")),
             test::contains_text("`shardlab run --save-load FILE` writes one"));
  CHECK_THAT(refusal(written(folder, "not json")), test::contains_text("no load of experts in this file"));
  CHECK_THAT(refusal(written(folder, R"({"layers": [{"assignments": [1, "x"]}]})")),
             test::contains_text("layers[0].assignments: expected numbers from 0"));
  CHECK_THAT(refusal(written(folder, R"({"layers": [7]})")),
             test::contains_text("expected a list of numbers"));
  CHECK_THAT(refusal("{load: measured, measured: nowhere.json}"), test::contains_text("nowhere.json"));
  CHECK_THAT(refusal("{load: measured}"), test::contains_text("model.moe.measured"));
  CHECK_THAT(refusal("{load: worst, measured: x}"), test::contains_text("has no effect with load: worst"));
}

TEST_CASE("shares must fit the model") {
  CHECK(check({{0.2, 0.2, 0.2, 0.2, 0.2}}).has_value());
  CHECK(check({{0.5, 0.5, 0, 0, 0}, {0.2, 0.2, 0.2, 0.2, 0.2}}).has_value());
  const auto message = [](const Lists& lists) { return to_string(check(lists).error()); };
  CHECK_THAT(message({{0.5, 0.5}}), test::contains_text("2 shares where a layer has 5 experts"));
  CHECK_THAT(message({{0.6, 0.4, 0, 0, 0}}), test::contains_text("a token goes to 2 different experts"));
  const std::vector<double> even(5, 0.2);
  CHECK_THAT(message({even, even, even}),
             test::contains_text("loads of 3 layers where the model has 2 with experts"));
}

}  // namespace
}  // namespace shardlab
