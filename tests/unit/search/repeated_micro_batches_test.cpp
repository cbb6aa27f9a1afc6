#include "simulator/search/repeated_micro_batches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/scenario/read_scenario.h"
#include "simulator/search/evaluate.h"
#include "simulator/search/grown_text.h"
#include "tests/unit/search/random_question.h"
#include "tests/unit/search/small_question.h"

namespace shardlab {
namespace {

using Settings = std::vector<std::string>;

Settings with(Settings settings, int accumulation) {
  settings.push_back(fmt::format("train.accumulation={}", accumulation));
  return settings;
}

struct Tried {
  int predicted = 0, repeated = 0, refused = 0;
};

// Each of them predicted in both ways, for a number of micro-batches that is drawn.
Tried compare_settings(std::uint64_t seed, int spaces) {
  const test::SearchFolder folder;
  test::write_random_scenarios(folder);
  test::Numbers numbers(seed);
  ResultFile kept;
  Tried tried;
  for (int i = 0; i < spaces; ++i) {
    const auto question = folder.whole(test::random_question(numbers));
    REQUIRE_OK(question);
    const auto space = SearchSpace::of(*question);
    REQUIRE_OK(space);
    Evaluator evaluator(question->base, {}, kept);
    const Configuration configuration = space->at(numbers.below(space->size()));
    const int many = 7 + static_cast<int>(numbers.below(40));
    const auto full = evaluator.predict(with(configuration.settings, many));
    const auto scenario = evaluator.scenario_with(with(configuration.settings, many));
    const auto predict = [](const Scenario& each) { return predict_fully(each, {}); };
    const auto repetition =
        scenario ? RepeatedMicroBatches::find(*scenario, predict)
                 : Result<std::optional<RepeatedMicroBatches>>(tl::unexpected(scenario.error()));
    INFO(fmt::format("{} {}", fmt::join(configuration.settings, " "), many));
    if (!repetition || !full) {
      CHECK(repetition.has_value() == full.has_value());
      ++tried.refused;
      continue;
    }
    ++tried.predicted;
    if (!*repetition) continue;
    ++tried.repeated;
    const auto figures = (*repetition)->figures(*scenario);
    REQUIRE(figures.has_value());
    CHECK(outcome_text("", {{}, *figures}) == outcome_text("", {{}, full->figures}));
  }
  return tried;
}

}  // namespace

TEST_CASE("numbers in a text go on as they did") {
  CHECK(grown_text("9 Backward s12 mb2", "12 Backward s12 mb3", 2) == "18 Backward s12 mb5");
  CHECK(grown_text("", "", 5) == "");
  CHECK(grown_text("takes 1.5 GiB", "takes 1.5 GiB", 7) == "takes 1.5 GiB");
  CHECK_FALSE(grown_text("9 Forward", "9 Backward", 1));
  CHECK_FALSE(grown_text("9 Forward", "9 Forward mb1", 1));
  CHECK_FALSE(grown_text("3", "1", 2));
  CHECK_FALSE(grown_text("1", "99999999999999999999", 2));
}

TEST_CASE("steps of many micro-batches are known from steps of few") {
  const Tried tried = compare_settings(5, 150);
  fmt::print("{} settings, {} of them repeat evenly, {} are refused\n", tried.predicted, tried.repeated,
             tried.refused);
  CHECK(tried.repeated > tried.predicted / 2);
}

TEST_CASE("a step that no plan can hold is predicted from short ones all the same") {
  const auto predict = [](const Scenario& each) { return predict_fully(each, {}); };
  const auto scenario = [](std::int64_t micro_batches) {
    const auto parsed = parse_scenario(
        fmt::format("model: {{config: tiny-llama, sequence_length: 64}}\ncluster: {{node: hgx-h100}}\n"
                    "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 1, accumulation: {}}}\n",
                    micro_batches),
        "a.yaml");
    REQUIRE_OK(parsed);
    return *parsed;
  };
  const Scenario many = scenario(1 << 20);
  const auto refused = predict(many);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().place.name == "train.accumulation");
  const auto repetition = RepeatedMicroBatches::find(many, predict);
  REQUIRE_OK(repetition);
  REQUIRE(repetition->has_value());
  const auto figures = (*repetition)->figures(many), of_few = (*repetition)->figures(scenario(64));
  REQUIRE(figures.has_value());
  REQUIRE(of_few.has_value());
  CHECK(figures->tokens == std::int64_t{64} * 8 << 20);
  CHECK(figures->step_time > of_few->step_time * 16'000);
  CHECK(figures->step_time < of_few->step_time * 16'384);
}

}  // namespace shardlab
