#include "simulator/search/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "simulator/search/bounded_space.h"
#include "simulator/search/equal_candidates.h"
#include "simulator/search/report/search_report.h"
#include "tests/unit/search/random_question.h"

namespace shardlab {
namespace {

// Spearman's: Pearson's of the ranks, equal values sharing theirs.
double rank_correlation(const std::vector<std::pair<double, double>>& pairs) {
  const auto ranks = [&](auto value_of) {
    std::vector<double> values, found;
    for (const auto& pair : pairs) values.push_back(value_of(pair));
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (const double value : values) {
      const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), value);
      found.push_back(static_cast<double>((low - sorted.begin()) + (high - sorted.begin()) - 1) / 2);
    }
    return found;
  };
  const std::vector<double> a = ranks([](const auto& pair) { return pair.first; });
  const std::vector<double> b = ranks([](const auto& pair) { return pair.second; });
  const double mean = static_cast<double>(pairs.size() - 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return ab / std::sqrt(aa * bb);
}

std::string words_of(const Candidate& candidate) {
  return fmt::format("{} {} {:.17g} {:.17g}\n", candidate.configuration.index,
                     candidate.figures.step_time.value, candidate.costs.time,
                     candidate.costs.money.value_or(-1));
}

std::string answers_of(const SearchResult& result) {
  std::string text;
  for (const Leader& leader : result.answers) {
    text += "best " + words_of(*leader.best);
    if (leader.second) text += "second " + words_of(*leader.second);
    text += "recommended " + words_of(recommended(leader));
  }
  for (const FrontPoint& point : result.front)
    text += fmt::format("front +{} ", point.alike) + words_of(point.candidate);
  for (const Candidate& each : result.nearest) text += "near " + words_of(each);
  return text;
}

std::string space_of(const SpaceCounts& space) {
  return fmt::format("{} {} {} {} {} {}", space.refused, space.indivisible, space.bounded, space.simulated,
                     space.not_fitting, space.satisfying);
}

void compare_random_spaces(int spaces, std::uint64_t seed) {
  const test::SearchFolder folder;
  test::write_random_scenarios(folder);
  test::Numbers numbers(seed);
  ResultFile kept;  // one for all: what equal configurations have is simulated once
  std::uint64_t bounded = 0, total = 0;
  int without_answer = 0, refused = 0;
  for (int i = 0; i < spaces; ++i) {
    const std::string text = test::random_question(numbers);
    INFO(text);
    const auto question = folder.whole(text);
    REQUIRE_OK(question);
    const auto exhaustive = test::search_of(
        *question,
        {.exhaustive = true, .threads = 2, .seconds = {}, .orders = {}, .progress = {}, .stop = {}}, kept);
    std::string first_space;
    for (const int threads : {1, 2, 7}) {
      const auto found = test::search_of(
          *question,
          {.exhaustive = false, .threads = threads, .seconds = {}, .orders = {}, .progress = {}, .stop = {}},
          kept);
      REQUIRE(found.has_value() == exhaustive.has_value());
      if (!found) {
        ++refused;
        break;
      }
      CHECK(answers_of(*found) == answers_of(*exhaustive));
      const SpaceCounts& space = found->space;
      CHECK(space.total == space.refused + space.indivisible + space.bounded + space.simulated + space.open);
      if (threads == 1) first_space = space_of(space);
      CHECK(space_of(space) == first_space);
      if (threads > 1) continue;
      bounded += space.bounded;
      total += space.total;
      without_answer += found->answers.empty();
    }
    if (exhaustive) CHECK(exhaustive->space.bounded == 0);
  }
  fmt::print(
      "{} spaces, {} combinations, {} bounded away, {} spaces without an answer, {} without a possible one\n",
      spaces, total, bounded, without_answer, refused);
  CHECK(bounded > 0);
  CHECK(without_answer > 0);
}

void compare_bounds(std::size_t least, std::uint64_t seed) {
  const test::SearchFolder folder;
  test::write_random_scenarios(folder);
  test::Numbers numbers(seed);
  ResultFile kept;
  std::vector<std::pair<double, double>> times;  // bounded, simulated
  while (times.size() < least) {
    const auto question = folder.whole(test::random_question(numbers));
    REQUIRE_OK(question);
    const auto space = SearchSpace::of(*question);
    REQUIRE_OK(space);
    Evaluator evaluator(question->base, {}, kept);
    const BoundedSpace bounded(*space, evaluator, "", 1);
    for (std::uint64_t index = 0; index < space->size(); ++index) {
      const Configuration configuration = space->at(index);
      if (!configuration.divides) continue;
      const auto outcome = evaluator.evaluate(configuration.settings);
      REQUIRE_OK(outcome);
      if (!outcome->refused.empty()) continue;
      const LowerBounds& bounds = bounded.bounds_of(index);
      INFO(question->base.file << " " << fmt::format("{}", fmt::join(configuration.settings, " ")));
      CHECK(bounds.step_ns <= static_cast<double>(outcome->figures.step_time.value));
      CHECK(bounds.memory <= outcome->figures.peak_allocated);
      times.emplace_back(bounds.step_ns, static_cast<double>(outcome->figures.step_time.value));
    }
  }
  fmt::print("{} bounds of time, rank correlation with the simulation {:.4f}\n", times.size(),
             rank_correlation(times));
}

}  // namespace

TEST_CASE("bounded search equals exhaustive search on random spaces, with any number of threads") {
  compare_random_spaces(12, 1900);
}

// Minutes: for changes of the bounds.
TEST_CASE("bounded search equals exhaustive search on 300 random spaces", "[.many]") {
  compare_random_spaces(300, 300);
}

// Whole states of a student of 303 million parameters are 4.5 GiB: too many for ddp where a rank has 4.25.
TEST_CASE("bounded search equals exhaustive search of a distillation") {
  std::string large = test::k_small_distillation;
  large.replace(large.find("n_layer: 2, n_embd: 64"), 22, "n_layer: 24, n_embd: 1024");
  large.replace(large.find("nodes: 1"), 8, "nodes: 1, memory_limit: 4.25GiB");
  const auto question = test::SearchFolder(large).question(
      "offers: [{node: hgx-h100, nodes: [1, 2]}]\nkeep: {global_batch: 32}\n"
      "vary:\n  parallel: [{strategy: ddp}, {strategy: fsdp2}]\n"
      "  distillation.teacher.parallel: [{strategy: none}, {strategy: fsdp2}]\n"
      "  model.loss: [{kind: plain}, {kind: chunked, chunks: 8}]\n  train.micro_batch: [1, 2]\n");
  REQUIRE_OK(question);
  ResultFile kept;
  const auto found = [&](bool exhaustive) {
    const SearchOptions options = {
        .exhaustive = exhaustive, .threads = 2, .seconds = {}, .orders = {}, .progress = {}, .stop = {}};
    auto result = test::search_of(*question, options, kept);
    REQUIRE_OK(result);
    return *std::move(result);
  };
  const SearchResult bounded = found(false);
  CHECK(answers_of(bounded) == answers_of(found(true)));
  CHECK(bounded.space.bounded > 0);
  CHECK(bounded.space.satisfying > 0);
}

TEST_CASE("the largest of a knob equals exhaustive search") {
  const test::SearchFolder folder;
  test::write_random_scenarios(folder);
  test::Numbers numbers(77);
  ResultFile kept;
  for (int i = 0; i < 10; ++i) {
    const std::string text = test::random_question(numbers);
    INFO(text);
    const auto question = folder.whole(text);
    REQUIRE_OK(question);
    SearchOptions options;
    options.orders = {{SearchObjective::time, "train.micro_batch"}};
    const auto found = test::search_of(*question, options, kept);
    options.exhaustive = true;
    const auto exhaustive = test::search_of(*question, options, kept);
    REQUIRE(found.has_value() == exhaustive.has_value());
    if (found) CHECK(answers_of(*found) == answers_of(*exhaustive));
  }
}

TEST_CASE("bounds stay below the simulation") {
  compare_bounds(1000, 20'000);
}

TEST_CASE("bounds stay below the simulation of 20,000 configurations", "[.many]") {
  compare_bounds(20'000, 7);
}

// Whole gradients of a wide model do not fit: only the reduced ones do.
TEST_CASE("gradients that every micro-batch reduces have bounds of their own") {
  const test::SearchFolder folder(
      "model: {config: gpt2, sequence_length: 64, overrides: {n_layer: 1, n_embd: 4096, n_head: 32, "
      "vocab_size: 50257}}\n"
      "cluster: {device: cpu, ranks: 8, memory_limit: 4GiB}\nparallel: {strategy: fsdp2}\n"
      "train: {micro_batch: 1, accumulation: 4}\n");
  const auto question = folder.question("vary: {train.sync: [last, every]}");
  REQUIRE_OK(question);
  ResultFile kept;
  const auto found = test::search_of(*question, {}, kept);
  REQUIRE_OK(found);
  REQUIRE(!found->answers.empty());
  CHECK(found->answers.front().best->configuration.index == 1);
}

TEST_CASE("one configuration that is refused stops none") {
  const test::SearchFolder folder;
  const auto question = folder.question("vary: {train.nan_check: [true, false]}");
  REQUIRE_OK(question);
  ResultFile kept;
  const auto found = test::search_of(*question, {}, kept);
  REQUIRE_OK(found);
  CHECK(found->space.refused == 1);
  CHECK(found->answers.front().best->configuration.index == 1);
  CHECK(found->refusals.size() == 1);
}

TEST_CASE("what is kept is not simulated again") {
  const test::SearchFolder folder;
  const auto question =
      folder.question("vary: {train.micro_batch: [1, 2, 4], activation.checkpoint: [none, full]}");
  REQUIRE_OK(question);
  const auto space = SearchSpace::of(*question);
  REQUIRE_OK(space);
  std::string before;
  for (const std::int64_t simulations : {6, 0}) {
    ResultFile kept;
    REQUIRE_OK(kept.open(folder.file("r")));
    Evaluator evaluator(question->base, {}, kept);
    const auto found = search(*space, evaluator, {});
    REQUIRE_OK(found);
    CHECK(evaluator.simulations() == simulations);
    if (simulations == 0) CHECK(answers_of(*found) == before);
    before = answers_of(*found);
  }
}

TEST_CASE("equal predictions are told by the one nearest to the scenario") {
  const test::SearchFolder folder;
  // The seed changes nothing that is predicted; the scenario's own is 1.
  const auto question = folder.question("vary: {train.seed: [7, 1, 3]}");
  REQUIRE_OK(question);
  ResultFile kept;
  const auto found = test::search_of(*question, {}, kept);
  REQUIRE_OK(found);
  CHECK(found->answers.front().best->configuration.index == 1);
  CHECK(!found->answers.front().second);
  REQUIRE(found->front.size() == 1);
  CHECK(found->front.front().alike == 2);
}

TEST_CASE("what predictions cannot tell from the best gives way to what is nearer to the scenario") {
  const test::SearchFolder folder;
  const auto question = folder.question(
      "vary:\n  parallel: [{strategy: fsdp2, prefetch: {forward_depth: 2, backward_depth: 2}}, {strategy: "
      "fsdp2}]\n  train.seed: [2, 1]\n");
  REQUIRE_OK(question);
  ResultFile kept;
  const auto found = test::search_of(*question, {}, kept);
  REQUIRE_OK(found);
  for (const Leader& leader : found->answers) {
    INFO(to_string(leader.order.objective));
    const Candidate& taken = recommended(leader);
    CHECK(taken.configuration.changes <= leader.best->configuration.changes);
    CHECK(taken.costs.time <= leader.best->costs.time * (1 + k_equal));
    CHECK(taken.configuration.gpus == leader.best->configuration.gpus);
  }
}

TEST_CASE("nothing that satisfies: the nearest misses, and what mends them") {
  const test::SearchFolder folder;
  const auto question = folder.question(
      "keep: {global_batch: 64}\nvary: {train.micro_batch: [4, 8], cluster.memory_limit: [1GiB]}\n"
      "train: {tokens: 1G}\nneed: {hours: 0.01}\n");
  REQUIRE_OK(question);
  ResultFile kept;
  const auto found = test::search_of(*question, {}, kept);
  REQUIRE_OK(found);
  CHECK(found->answers.empty());
  REQUIRE(!found->nearest.empty());
  CHECK(!found->nearest.front().misses.empty());
  for (std::size_t i = 1; i < found->nearest.size(); ++i)
    CHECK(found->nearest[i - 1].worst_miss() <= found->nearest[i].worst_miss());
}

}  // namespace shardlab
