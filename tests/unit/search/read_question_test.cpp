#include "simulator/search/question/read_question.h"

#include <algorithm>
#include <map>

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
  CHECK(shown(question->knobs[1]) ==
        std::vector<std::string>{"fsdp2", "ddp", "fsdp1", "fsdp1 shard_grad_op", "fsdp1 prefetching after",
                                 "fsdp1 2 replicas", "fsdp2 kept after forward", "fsdp2 prefetching 2",
                                 "fsdp2 2 replicas", "zero1", "zero2", "zero3"});
  CHECK(shown(question->knobs[2]) == std::vector<std::string>{"none", "selective keeping linear", "full"});
  for (const Knob& knob : question->knobs) {
    const auto own = std::count_if(knob.choices.begin(), knob.choices.end(),
                                   [](const Choice& each) { return each.standard; });
    CHECK(own == 1);
  }
}

TEST_CASE("of a distillation the loss is cut and the teacher sharded as well") {
  const auto question = test::SearchFolder(test::k_small_distillation).question("objective: time");
  REQUIRE_OK(question);
  const auto choices_of = [&](std::string_view key) {
    for (const Knob& knob : question->knobs)
      if (knob.key == key) return shown(knob);
    return std::vector<std::string>();
  };
  CHECK(choices_of("model.loss") == std::vector<std::string>{"plain", "8 chunks"});
  CHECK(choices_of("distillation.teacher.parallel") == std::vector<std::string>{"none", "fsdp2"});
}

TEST_CASE("what changes the arithmetic is no default: ddp casts nothing") {
  const auto question =
      test::SearchFolder(fmt::format("{}precision: {{param: bfloat16}}\n", test::k_small_gpt))
          .question("objective: time");
  REQUIRE_OK(question);
  for (const Knob& knob : question->knobs)
    for (const Choice& choice : knob.choices) CHECK(choice.shown.find("ddp") == std::string::npos);
}

TEST_CASE("without offers fewer of the scenario's own GPUs are tried") {
  const auto one = test::SearchFolder().question("objective: time");
  REQUIRE_OK(one);
  CHECK(one->knobs[0].key == "cluster.gpus_per_node");
  CHECK(shown(one->knobs[0]) == std::vector<std::string>{"1", "2", "4", "8"});
  CHECK(one->knobs[0].choices.back().standard);
  std::string four = test::k_small_gpt;
  four.replace(four.find("nodes: 1"), 8, "nodes: 4");
  const auto nodes = test::SearchFolder(four).question("objective: time");
  REQUIRE_OK(nodes);
  CHECK(nodes->knobs[0].key == "cluster.nodes");
  CHECK(shown(nodes->knobs[0]) == std::vector<std::string>{"1", "2", "4"});
}

TEST_CASE("offers by GPU, spot offers, evaluation and energy") {
  const auto question = test::SearchFolder().question(
      "offers:\n"
      "- {gpu: H100-SXM, gpus_per_node: 8, inter_node_gbps_per_gpu: 400, nodes: [1, 2], price: 3, date: "
      "'2026-01-01', "
      "source: a}\n"
      "- {node: dgx-a100, price: 20, date: '2026-01-01', source: a, spot: {price: 8, interruptions: {count: "
      "5,\n"
      "   node_days: 100, source: b}}}\n"
      "train: {tokens: 1T, evaluation: {every: 100, batches: 5}, energy: {price: 0.2, date: '2026-01-01', "
      "source: c},\n"
      "  failures: {count: 6.5, node_days: 1000, source: d, checkpoint: 1min, downtime: 1min, recovery: "
      "1min}}\n");
  REQUIRE_OK(question);
  REQUIRE(question->offers.size() == 3);
  CHECK(*question->offers[0].price == 24);  // of eight
  CHECK(!question->offers[1].interruptions);
  CHECK(question->offers[2].interruptions->count == 5);
  CHECK(*question->offers[2].price == 8);
  CHECK(question->offers[2].date == "2026-01-01");
  CHECK(shown(question->knobs[0]) == std::vector<std::string>{"1 x 8 x H100-SXM", "2 x 8 x H100-SXM",
                                                              "1 x dgx-a100", "1 x dgx-a100 (spot)"});
  CHECK(question->training.evaluation->every == 100);
  CHECK(*question->training.energy.price == 0.2);
  CHECK(question->knobs[0].choices[0].settings ==
        std::vector<std::string>{"cluster={gpu: H100-SXM, gpus_per_node: 8, nodes: 1}"});
  CHECK(question->knobs[0].choices[1].settings ==
        std::vector<std::string>{
            "cluster={gpu: H100-SXM, gpus_per_node: 8, nodes: 2, inter_node_gbps_per_gpu: 400}"});
  const auto space = SearchSpace::of(*question);
  REQUIRE_OK(space);
  const Configuration first = space->at(0), last = space->at(space->size() - 1);
  CHECK(first.gpus == 8);
  CHECK(first.watts == 700);
  CHECK(first.offer == &question->offers[0]);
  CHECK(last.offer == &question->offers[2]);
  CHECK(last.node == "dgx-a100");
  // One more of what was rented stays what was rented.
  CHECK(space->with(last.index, {"cluster.nodes=2"}).offer == &question->offers[2]);
  CHECK(space->with(first.index, {"cluster.nodes=2"}).offer == &question->offers[0]);
  CHECK(network_setting(question->offers[0]) == "cluster.inter_node_gbps_per_gpu=400");
  CHECK(space->with(first.index, {"cluster.nodes=2", network_setting(question->offers[0])}).offer ==
        &question->offers[0]);
  CHECK(space->with(first.index, {"cluster.inter_node_gbps_per_gpu=100"}).offer == nullptr);
  // What is supposed of it has its price.
  CHECK(space->with(first.index, {"cluster.suppose.memory=2", "cluster.memory_limit=1GiB"}).offer ==
        &question->offers[0]);
}

TEST_CASE("limits of the scenario become needs") {
  const test::SearchFolder folder(
      fmt::format("{}limits: {{gpus: 16, step_time: 2s, memory: 40GiB, price: 50, objective: price}}\n",
                  test::k_small_gpt));
  const std::string offers =
      "offers: [{node: dgx-h100, nodes: [1, 2], price: 30, date: '2026-01-01', source: a}]\n";
  const auto question = folder.question(offers + "need: {gpus: 8}\n");
  REQUIRE_OK(question);
  CHECK(question->needs.gpus == 8);
  CHECK(question->needs.dollars_per_hour == 50);
  CHECK(question->objective == SearchObjective::money);
  REQUIRE(question->needs.metrics.size() == 2);
  CHECK(*question->needs.metrics[0].most == 2e9);
  ResultFile kept;
  const auto found = test::search_of(*question, {}, kept);
  REQUIRE_OK(found);
  CHECK(!found->answers.empty());  // no step knows of limits
  CHECK(folder.question(offers + "objective: gpus\n")->objective == SearchObjective::gpus);
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

TEST_CASE("a key of another section is told where it belongs") {
  const test::SearchFolder folder;
  for (const auto& [text, hint] : std::map<std::string, std::string>{
           {"train: {global_batch: 64}\n", "did you mean keep.global_batch?"},
           {"global_batch: 64\n", "did you mean keep.global_batch?"},
           {"keep: {tokens: 20B}\n", "did you mean train.tokens?"},
           {"train: {tokens: 20B}\nbudget: 1000\n", "did you mean need.dollars?"},
           {"train: {tokns: 20B}\n", "did you mean 'tokens'?"}}) {
    INFO(text);
    const auto read = folder.question(text);
    REQUIRE(!read);
    CHECK_THAT(to_string(read.error()), test::contains_text(hint));
  }
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
  CHECK_THAT(refusal("offers: [{gpu: H100-SXM, nodes: 2}]"), test::contains_text("offers.gpus_per_node"));
  CHECK_THAT(refusal("offers: [{gpu: H100-SXM, gpus_per_node: 8, nodes: 2}]"),
             test::contains_text("required for more than one node"));
  CHECK_THAT(refusal("offers: [{gpu: H100-SXM, node: dgx-h100}]"),
             test::contains_text("its node, or its GPU"));
  CHECK_THAT(
      refusal("offers: [{node: dgx-h100, spot: {price: 3, date: a, source: b, interruptions: {count: 1,\n"
              " node_days: 9, source: c}}}]"),
      test::contains_text("what an interruption costs is not said"));
  CHECK_THAT(refusal("train: {energy: {price: 0.1}}"), test::contains_text("a price needs its date"));
  CHECK_THAT(refusal("train: {evaluation: {every: 3}}"), test::contains_text("after how many steps"));
  CHECK_THAT(refusal("need: {hours: 3}"), test::contains_text("hours for what?"));
  CHECK_THAT(refusal("need: {speed: 3}"), test::contains_text("no figure of a run is called"));
  CHECK_THAT(refusal("need: {mfu: 3}"), test::contains_text("say which way"));
  CHECK_THAT(refusal("need: {fit_probability: 2}"), test::contains_text("at most 1"));
  CHECK_THAT(refusal("need: {fit_probability: 100%}"), test::contains_text("no prediction is surer"));
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
