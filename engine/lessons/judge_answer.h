// What a typed answer is worth.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/lessons/worked_step.h"

namespace shardlab::lessons {

struct Judgement {
  bool understood = false;  // else `reply` says how to answer
  bool right = false;
  std::string reply{};   // of a wrong answer the thought behind it, where the lesson knows it
  std::string source{};  // of that thought; may be empty
};

// Whether the scenario of a change reaches its goal with these settings. An error is an answer too: what the
// scenario does not allow.
using ChangeTrial =
    std::function<Result<bool>(const WorkedChange&, const std::vector<std::string>& settings)>;

// `typed` as a learner writes it: a letter or a number of a list ("b", "2"), letters in an order ("c a b",
// "cab"), a quantity with its unit ("81 MiB", "50 %"), the number or the name of an instruction ("52",
// "Backward s6 mb0"), key=value several times. Pure apart from `trial`, which only a change asks.
Judgement judge_answer(const WorkedAsk& ask, const std::string& typed, const ChangeTrial& trial);

// "a, b, c or d": what may be typed, for a prompt.
std::string answer_form(const WorkedAsk& ask);

}  // namespace shardlab::lessons
