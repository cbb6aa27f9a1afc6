#include "simulator/search/search_space.h"

#include <set>

#include "tests/unit/search/small_question.h"

namespace shardlab {

TEST_CASE("every combination comes once, with the accumulation that keeps the batch") {
  const test::SearchFolder folder;
  const auto question = folder.question(
      "keep: {global_batch: 64}\noffers: [{node: hgx-h100, nodes: [1, 2, 3]}]\n"
      "vary: {train.micro_batch: [1, 4, 8], activation.checkpoint: [none, full]}\n");
  REQUIRE_OK(question);
  const auto space = SearchSpace::of(*question);
  REQUIRE_OK(space);
  REQUIRE(space->size() == 18);
  std::set<std::vector<std::string>> seen;
  int indivisible = 0;
  for (std::uint64_t i = 0; i < space->size(); ++i) {
    const Configuration each = space->at(i);
    CHECK(each.index == i);
    CHECK(seen.insert(each.settings).second);
    indivisible += !each.divides;
    if (each.divides) CHECK(each.micro_batch * each.gpus * each.accumulation == 64);
  }
  CHECK(indivisible == 6 + 2);  // three nodes, and micro-batches of 8 on two
  CHECK(space->offers_beyond_batch() == std::vector<std::string>{"3 x dgx-h100"});
}

TEST_CASE("without offers, or without a batch that is kept, no offer is beyond it") {
  const test::SearchFolder folder;
  for (const char* text :
       {"keep: {global_batch: 3}\nvary: {train.micro_batch: [1, 2]}\n",
        "offers: [{node: hgx-h100, nodes: [1, 3]}]\nvary: {train.accumulation: [1, 2]}\n"}) {
    const auto question = folder.question(text);
    REQUIRE_OK(question);
    CHECK(SearchSpace::of(*question).value().offers_beyond_batch().empty());
  }
}

TEST_CASE("settings on top of a combination change its cluster and its price with it") {
  const test::SearchFolder folder;
  const auto question = folder.question(
      "keep: {global_batch: 64}\noffers:\n"
      "- {node: hgx-h100, nodes: 1, price: 10, date: '2026-01-01', source: a test}\n"
      "- {node: dgx-a100, nodes: 1, price: 5, date: '2026-01-01', source: a test}\n"
      "vary: {train.micro_batch: [1, 4]}\n");
  REQUIRE_OK(question);
  const auto space = SearchSpace::of(*question);
  REQUIRE_OK(space);
  const Configuration first = space->at(0);
  CHECK(*first.offer->price == 10);
  const Configuration other =
      space->with(0, {"cluster.node=dgx-a100", "cluster.nodes=2", "train.micro_batch=2"});
  CHECK(*other.offer->price == 5);
  CHECK(other.nodes == 2);
  CHECK(other.gpus == 16);
  CHECK(other.accumulation == 2);
  CHECK(space->with(0, {"cluster.node=hgx-h200"}).offer == nullptr);
}

TEST_CASE("more combinations than anybody waits for are refused") {
  const test::SearchFolder folder;
  const auto question = folder.question(
      "vary:\n  train.seed: {from: 1, to: 10000, step: 1}\n  train.micro_batch: {from: 1, to: 10000, step: "
      "1}\n"
      "  measure.steps: {from: 1, to: 10000, step: 1}\n");
  REQUIRE_OK(question);
  const auto space = SearchSpace::of(*question);
  REQUIRE(!space);
  CHECK(space.error().kind == ErrorKind::bad_input);
  CHECK_THAT(to_string(space.error()), test::contains_text("1e+12 combinations"));
}

TEST_CASE("where the scenario reduces in every micro-batch, one micro-batch is a combination all the same") {
  const test::SearchFolder folder(
      "model: {config: gpt2, sequence_length: 64}\ncluster: {node: hgx-h100, nodes: 1}\n"
      "parallel: {strategy: fsdp2}\ntrain: {micro_batch: 2, accumulation: 2, sync: every}\n");
  const auto question = folder.question("keep: {global_batch: 32}\nvary: {train.micro_batch: [2, 4]}\n");
  REQUIRE_OK(question);
  ResultFile kept;
  const auto result = test::search_of(*question, {}, kept);
  REQUIRE_OK(result);
  const auto space = SearchSpace::of(*question);
  REQUIRE_OK(space);
  Evaluator evaluator(question->base, {}, kept);
  for (std::uint64_t i = 0; i < space->size(); ++i) {
    const auto outcome = evaluator.evaluate(space->at(i).settings);
    REQUIRE_OK(outcome);
    CAPTURE(space->at(i).settings);
    CHECK(outcome->refused.empty());
  }
}

}  // namespace shardlab
