#include "engine/lessons/judge_answer.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"
#include "engine/lessons/typed_settings.h"

namespace shardlab::lessons {
namespace {

Judgement not_understood(const WorkedAsk& ask) {
  return {.reply = "please answer with " + answer_form(ask)};
}

Judgement right_one() {
  return {.understood = true, .right = true};
}

Judgement wrong_one(const WorkedMistake* mistake = nullptr) {
  Judgement judgement{.understood = true};
  if (mistake != nullptr) {
    judgement.reply = mistake->thought;
    judgement.source = mistake->source;
  }
  return judgement;
}

std::vector<std::string> words_of_answer(const std::string& typed) {
  std::istringstream stream(typed);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The place in a list that a letter or a number names, from 1; 0: none.
int place_in_list(const std::string& word, std::size_t count) {
  int place = 0;
  if (word.size() == 1 && std::isalpha(static_cast<unsigned char>(word[0])) != 0)
    place = std::tolower(static_cast<unsigned char>(word[0])) - 'a' + 1;
  else if (word.size() == 1 && std::isdigit(static_cast<unsigned char>(word[0])) != 0)
    place = word[0] - '0';
  return place >= 1 && place <= static_cast<int>(count) ? place : 0;
}

struct AnswerJudge {
  const WorkedAsk& ask;
  const std::string& typed;
  const ChangeTrial& trial;

  Judgement operator()(const WorkedChoose& choose) const {
    const auto words = words_of_answer(typed);
    const int place = words.size() == 1 ? place_in_list(words[0], choose.options.size()) : 0;
    if (place == 0) return not_understood(ask);
    const WorkedOption& option = choose.options[static_cast<std::size_t>(place - 1)];
    return option.right ? right_one() : wrong_one(&option.mistake);
  }

  Judgement operator()(const WorkedOrder& order) const {
    std::vector<int> given;
    for (const char c : typed) {
      if (c == ' ' || c == ',') continue;
      given.push_back(place_in_list(std::string(1, c), order.items.size()));
    }
    std::vector<int> sorted = given;
    std::sort(sorted.begin(), sorted.end());
    const bool all = given.size() == order.items.size() && sorted.front() == 1 &&
                     std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    if (!all) return not_understood(ask);
    if (given == order.right) return right_one();
    for (const WorkedOrder::Wrong& wrong : order.wrong) {
      if (wrong.order == given) return wrong_one(&wrong.mistake);
    }
    return wrong_one();
  }

  Judgement operator()(const WorkedNumber& number) const {
    const auto read = parse_expression(typed, {});
    if (!read || read->root.kind != ExpressionNode::Kind::literal ||
        read->root.value.kind != number.value.kind)
      return not_understood(ask);
    const double given = read->root.value.number;
    const auto near = [&](const Value& value) {
      return std::abs(given - value.number) <= number.tolerance * std::abs(value.number) * (1 + 1e-9);
    };
    if (near(number.value)) return right_one();
    for (const WorkedNumber::Wrong& wrong : number.wrong) {
      if (near(wrong.value)) return wrong_one(&wrong.mistake);
    }
    Judgement judgement = wrong_one();
    judgement.reply = given < number.value.number ? "that is too little" : "that is too much";
    return judgement;
  }

  // "52", "52 Backward s6 mb0" and "backward s6 mb0" are one instruction.
  static bool names(const std::string& typed, const std::string& label) {
    const std::size_t space = label.find(' ');
    const std::string given = in_lower_case(typed), whole = in_lower_case(label);
    return given == whole || given == whole.substr(0, space) ||
           (space != std::string::npos && given == whole.substr(space + 1));
  }

  Judgement operator()(const WorkedInstruction& pick) const {
    if (names(typed, pick.right)) return right_one();
    for (const WorkedInstruction::Wrong& wrong : pick.wrong) {
      if (names(typed, wrong.label)) return wrong_one(&wrong.mistake);
    }
    return words_of_answer(typed).empty() ? not_understood(ask) : wrong_one();
  }

  Judgement operator()(const WorkedChange& change) const {
    const std::vector<std::string> settings = typed_settings(typed);
    if (settings.empty()) return not_understood(ask);
    for (const std::string& setting : settings) {
      const std::string key = setting.substr(0, setting.find('='));
      if (setting.find('=') == std::string::npos) return not_understood(ask);
      if (std::find(change.keys.begin(), change.keys.end(), key) == change.keys.end())
        return {.reply = fmt::format("{} is not to be changed here: {}", key, suggestion(key, change.keys))};
    }
    const Result<bool> reached = trial(change, settings);
    if (!reached) return {.reply = "the scenario does not allow that: " + to_string(reached.error())};
    if (*reached) return right_one();
    for (const WorkedChange::Wrong& wrong : change.wrong) {
      if (std::is_permutation(wrong.settings.begin(), wrong.settings.end(), settings.begin(), settings.end()))
        return wrong_one(&wrong.mistake);
    }
    return wrong_one();
  }
};

std::string listed_letters(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += i + 1 == count ? " or " : ", ";
    text += static_cast<char>('a' + i);
  }
  return text;
}

std::string_view quantity_form(ValueKind kind) {
  if (kind == ValueKind::bytes) return "a size with its unit, as in 3 B or 0.1 TiB";
  if (kind == ValueKind::time) return "a time with its unit, as in 5 ns or 2 h";
  return "a number, as in 0.5 or 50 %";
}

}  // namespace

Judgement judge_answer(const WorkedAsk& ask, const std::string& typed, const ChangeTrial& trial) {
  const std::size_t begin = typed.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return not_understood(ask);
  const std::string trimmed = typed.substr(begin, typed.find_last_not_of(" \t\r\n") - begin + 1);
  return std::visit(AnswerJudge{ask, trimmed, trial}, ask.kind);
}

std::string answer_form(const WorkedAsk& ask) {
  if (const auto* choose = std::get_if<WorkedChoose>(&ask.kind))
    return listed_letters(choose->options.size());
  if (const auto* order = std::get_if<WorkedOrder>(&ask.kind))
    return fmt::format("all {} letters, in the order that is asked for", order->items.size());
  if (const auto* number = std::get_if<WorkedNumber>(&ask.kind))
    return std::string(quantity_form(number->value.kind));
  if (const auto* change = std::get_if<WorkedChange>(&ask.kind))
    return fmt::format("KEY=VALUE, of {}", fmt::join(change->keys, ", "));
  return "the number of an instruction";
}

}  // namespace shardlab::lessons
