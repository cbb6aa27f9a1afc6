#include "simulator/search/read_question.h"

#include <algorithm>

#include <fmt/format.h>

#include "tests/unit/search/small_question.h"

namespace shardlab {
namespace {

std::vector<std::string> shown(const Knob& knob) {
  std::vector<std::string> texts;
  for (const Choice& choice : knob.choices) texts.push_back(choice.shown);
  return texts;
}

std::string refusal(const std::string& text) {
  const auto question = test::SearchFolder().question(text);
  REQUIRE(!question);
  CHECK(question.error().kind == ErrorKind::bad_input);
  return to_string(question.error());
}

}  // namespace

TEST_CASE("lists, ranges and divisors become choices") {
  const auto question = test::SearchFolder().question(
      "keep: {global_batch: 12}\n"
      "vary:\n  train.micro_batch: divisors\n  activation.checkpoint: [none, full]\n"
      "  train.learning_rate: {from: 0.5, to: 2, step: 0.5}\n  measure.steps: {from: 1, to: 9, times: 2}\n"
      "  parallel: [{strategy: ddp}, {strategy: fsdp2}]\n");
  REQUIRE_OK(question);
  CHECK(shown(question->knobs[0]) == std::vector<std::string>{"1", "2", "3", "4", "6", "12"});
  CHECK(shown(question->knobs[1]) == std::vector<std::string>{"none", "full"});
  CHECK(shown(question->knobs[2]) == std::vector<std::string>{"0.5", "1", "1.5", "2"});
  CHECK(shown(question->knobs[3]) == std::vector<std::string>{"1", "2", "4", "8"});
  CHECK(question->knobs[4].choices[0].settings == std::vector<std::string>{"parallel={strategy: ddp}"});
  CHECK(!question->knobs_chosen);
}

TEST_CASE("the choice that is the scenario's own is known") {
  const auto question =
      test::SearchFolder().question("vary: {train.micro_batch: [1, 2, 4], parallel.strategy: [ddp, fsdp2]}");
  REQUIRE_OK(question);
  CHECK(!question->knobs[0].choices[0].standard);
  CHECK(question->knobs[0].choices[1].standard);
  CHECK(question->knobs[1].choices[1].standard);
}

TEST_CASE("the global batch is kept unless it is varied by name") {
  const test::SearchFolder folder;
  CHECK(folder.question("vary: {train.micro_batch: [1, 2]}")->global_batch == 2 * 2 * 8);
  CHECK(folder.question("keep: {global_batch: 64}")->global_batch == 64);
  CHECK(!folder.question("vary: {train.accumulation: [1, 2]}")->global_batch);
}

TEST_CASE("without knobs those are turned that leave the mathematics alone") {
  const auto question = test::SearchFolder().question("offers: [{node: hgx-h100, nodes: {most: 3}}]");
  REQUIRE_OK(question);
  CHECK(question->knobs_chosen);
  std::vector<std::string> keys;
  for (const Knob& knob : question->knobs) keys.push_back(knob.key);
  CHECK(keys == std::vector<std::string>{"cluster", "parallel", "activation.checkpoint", "model.loss",
                                         "train.sync", "train.micro_batch"});
  CHECK(shown(question->knobs[0]) ==
        std::vector<std::string>{"1 x dgx-h100", "2 x dgx-h100", "3 x dgx-h100"});
  // `none` trains on one rank and is left out on eight.
  CHECK(shown(question->knobs[1]) == std::vector<std::string>{"fsdp2", "ddp", "fsdp1", "fsdp1 shard_grad_op",
                                                              "fsdp2 kept after forward", "zero1", "zero2",
                                                              "zero3"});
  for (const Knob& knob : question->knobs) {
    const auto own = std::count_if(knob.choices.begin(), knob.choices.end(),
                                   [](const Choice& each) { return each.standard; });
    CHECK(own == 1);
  }
}

TEST_CASE("what changes the arithmetic is no default: ddp casts nothing") {
  const auto question =
      test::SearchFolder(fmt::format("{}precision: {{param: bfloat16}}\n", test::k_small_gpt))
          .question("objective: time");
  REQUIRE_OK(question);
  for (const Choice& choice : question->knobs[0].choices)
    CHECK(choice.shown.find("ddp") == std::string::npos);
}

TEST_CASE("shipped search files are read") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() / "scenarios/search")) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    INFO(entry.path());
    REQUIRE_OK(read_question(entry.path()));
  }
  CHECK(count >= 1);
}

TEST_CASE("mistakes are told together, with their places and hints") {
  const std::string text = refusal(
      "vary: {train.micro_bach: [1], train.micro_batch: []}\nneed: {mfu: {least: 50%, most: "
      "40%}}\nobjective: speed\n");
  for (const char* part : {"q.yaml:2:8", "did you mean 'train.micro_batch'?", "an empty list",
                           "contradict each other", "known: time, money, gpus, batch"})
    CHECK_THAT(text, test::contains_text(part));
}

TEST_CASE("a question that cannot be answered is refused before anything is reckoned") {
  CHECK_THAT(refusal("offers: [{node: dgx-h10}]"), test::contains_text("did you mean 'dgx-h100'?"));
  CHECK_THAT(refusal("offers: [{node: dgx-h100, price: 3}]"),
             test::contains_text("needs its date and its source"));
  CHECK_THAT(refusal("offers: [{node: dgx-h100, nodes: {least: 4, most: 2}}]"),
             test::contains_text("contradict"));
  CHECK_THAT(refusal("objective: money"), test::contains_text("money without a price"));
  CHECK_THAT(refusal("need: {hours: 3}"), test::contains_text("hours for what?"));
  CHECK_THAT(refusal("need: {speed: 3}"), test::contains_text("no figure of a run is called"));
  CHECK_THAT(refusal("need: {mfu: 3}"), test::contains_text("say which way"));
  CHECK_THAT(refusal("need: {fit_probability: 2}"), test::contains_text("at most 1"));
  CHECK_THAT(refusal("vary: {train.micro_batch: {from: 1, to: 4}}"), test::contains_text("step or times"));
  CHECK_THAT(refusal("vary: {train.micro_batch: {from: 1, to: 4, times: 1}}"),
             test::contains_text("never gets"));
  CHECK_THAT(refusal("vary: {train.micro_batch: [1, 1]}"), test::contains_text("twice"));
  CHECK_THAT(refusal("keep: {global_batch: 8}\nvary: {train.accumulation: [1]}"),
             test::contains_text("follows from"));
  CHECK_THAT(refusal("offers: [{node: dgx-h100}]\nvary: {cluster.nodes: [1]}"),
             test::contains_text("follows from the offers"));
  CHECK_THAT(refusal("train: {tokens: 1G, failures: {count: 1}}"),
             test::contains_text("gpu_days or node_days"));
}

}  // namespace shardlab
