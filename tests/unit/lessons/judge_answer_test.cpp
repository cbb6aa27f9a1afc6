// What typed answers are worth, in the form in which people type them.
#include "engine/lessons/judge_answer.h"

#include "tests/catch.h"

namespace shardlab::lessons {
namespace {

const ChangeTrial k_no_trial = [](const WorkedChange&, const std::vector<std::string>&) -> Result<bool> {
  return internal_error("judge_answer_test", "nothing changes here");
};

Judgement judged(const WorkedAsk& ask, const std::string& typed, const ChangeTrial& trial = k_no_trial) {
  return judge_answer(ask, typed, trial);
}

TEST_CASE("a choice is a letter or a number, and a wrong one has its thought") {
  WorkedChoose choose;
  choose.options = {{"this", true, {}}, {"that", false, {"the thought", "a thread"}}};
  const WorkedAsk ask{"Which?", choose};
  CHECK(judged(ask, "a").right);
  CHECK(judged(ask, " A ").right);
  CHECK(judged(ask, "1").right);
  const Judgement wrong = judged(ask, "b");
  CHECK((wrong.understood && !wrong.right));
  CHECK(wrong.reply == "the thought");
  CHECK(wrong.source == "a thread");
  for (const char* unknown : {"", "c", "0", "a b", "yes"}) {
    INFO(unknown);
    CHECK(!judged(ask, unknown).understood);
  }
  CHECK(judged(ask, "c").reply == "please answer with " + answer_form(ask));
}

TEST_CASE("the wrong answers that a lesson knows are listed as one would type them, and judged so") {
  const WorkedNumber number{number_value(16), 0.1, {{number_value(4), {"only the parameters", "a thread"}}}};
  WorkedOrder order;
  order.items = {"x", "y", "z"};
  order.right = {3, 1, 2};
  order.wrong = {{{1, 2, 3}, {"as they stand", {}}}};
  WorkedChoose choose;
  choose.options = {{"this", true, {}}, {"that", false, {"the thought", {}}}};
  const WorkedInstruction pick{"a", "52 Backward s6 mb0", {{"7 Forward s1 mb0", {"the other way", {}}}}};
  const std::vector<std::pair<WorkedAsk, std::string>> cases = {{{"How many?", number}, "4"},
                                                                {{"Order", order}, "a b c"},
                                                                {{"Which?", choose}, "b"},
                                                                {{"Which?", pick}, "7"}};
  for (const auto& [ask, typed] : cases) {
    INFO(typed);
    const std::vector<TypedMistake> wrong = wrong_answers(ask);
    REQUIRE(wrong.size() == 1);
    CHECK(wrong[0].typed == typed);
    CHECK(judged(ask, wrong[0].typed).reply == wrong[0].mistake.thought);
    CHECK(judged(ask, right_answer(ask)).right);
  }
}

TEST_CASE("an order is all letters once") {
  WorkedOrder order;
  order.items = {"x", "y", "z"};
  order.right = {3, 1, 2};
  order.wrong = {{{1, 2, 3}, {"as they stand", {}}}};
  const WorkedAsk ask{"Order", order};
  for (const char* right : {"c a b", "cab", "c, a, b", "3 1 2"}) CHECK(judged(ask, right).right);
  CHECK(judged(ask, "abc").reply == "as they stand");
  CHECK(judged(ask, "bca").reply.empty());
  for (const char* unknown : {"", "ab", "aab", "abcd"}) CHECK(!judged(ask, unknown).understood);
}

TEST_CASE("a number has its unit and a tolerance") {
  WorkedNumber number{bytes_value(Bytes{100 << 20}), 0.1, {}};
  number.wrong = {{bytes_value(Bytes{200 << 20}), {"twice", {}}}};
  const WorkedAsk ask{"How much?", number};
  CHECK(judged(ask, "100 MiB").right);
  CHECK(judged(ask, "0.1 GiB").right);
  CHECK(judged(ask, "109 MiB").right);
  CHECK(judged(ask, "111 MiB").reply == "that is too much");
  CHECK(judged(ask, "50 MiB").reply == "that is too little");
  CHECK(judged(ask, "200 MiB").reply == "twice");
  for (const char* unknown : {"", "100", "100 ms", "50 MiB + 50 MiB", "much"})
    CHECK(!judged(ask, unknown).understood);
}

TEST_CASE("an instruction is its number, its name or both") {
  const WorkedAsk ask{"Which?", WorkedInstruction{"a", "52 Backward s6 mb0", {{"7 Forward s0", {"no", {}}}}}};
  for (const char* right : {"52", "52 backward s6 mb0", "Backward s6 mb0"}) CHECK(judged(ask, right).right);
  CHECK(judged(ask, "7").reply == "no");
  CHECK(!judged(ask, "5").right);
  CHECK(!judged(ask, "  ").understood);
}

TEST_CASE("a change is of the keys that are offered, and is tried") {
  WorkedChange change;
  change.scenario = "a";
  change.keys = {"train.micro_batch", "activation.checkpoint"};
  const WorkedAsk ask{"Make it fit", change};
  std::vector<std::string> tried;
  const ChangeTrial trial = [&](const WorkedChange&,
                                const std::vector<std::string>& settings) -> Result<bool> {
    tried = settings;
    if (settings.back().ends_with("=0")) return bad_input({}, "0 is less than 1");
    return settings.size() == 2;
  };
  CHECK(judged(ask, "train.micro_batch=1 activation.checkpoint=full", trial).right);
  CHECK(tried.size() == 2);
  CHECK(!judged(ask, "train.micro_batch=1", trial).right);
  CHECK_THAT(judged(ask, "train.micro_batch=0", trial).reply,
             shardlab::test::contains_text("0 is less than 1"));
  CHECK_THAT(judged(ask, "train.seed=1", trial).reply,
             shardlab::test::contains_text("train.seed is not to be changed here"));
  CHECK(!judged(ask, "train.micro_batch", trial).understood);
  change.keys = {"model.loss", "train.micro_batch"};
  change.wrong = {{{"train.micro_batch=1", "model.loss={kind: chunked, chunks: 2}"}, {"too few", {}}}};
  const ChangeTrial never = [](const WorkedChange&, const std::vector<std::string>&) -> Result<bool> {
    return false;
  };
  const WorkedAsk loss{"Make it fit", change};
  CHECK(judged(loss, "model.loss={kind: chunked, chunks: 2}  train.micro_batch=1", never).reply == "too few");
}

}  // namespace
}  // namespace shardlab::lessons
