#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/lessons/worked_step.h"

namespace shardlab::lessons {
namespace {

std::string letter(std::size_t index) {
  return std::string(1, static_cast<char>('a' + index));
}

std::string shown_or_empty(const Value& value) {
  return shown(value).value_or("");
}

std::string letters_of(const std::vector<int>& order) {
  std::string text;
  for (const int number : order)
    text += (text.empty() ? "" : " ") + letter(static_cast<std::size_t>(number - 1));
  return text;
}

std::string number_of(const std::string& label) {
  return label.substr(0, label.find(' '));
}

struct WrongAnswers {
  std::vector<TypedMistake> operator()(const WorkedChoose& choose) const {
    std::vector<TypedMistake> typed;
    for (std::size_t i = 0; i < choose.options.size(); ++i) {
      if (!choose.options[i].right) typed.push_back({letter(i), choose.options[i].mistake});
    }
    return typed;
  }
  std::vector<TypedMistake> operator()(const WorkedOrder& order) const {
    return of(order.wrong, [](const auto& wrong) { return letters_of(wrong.order); });
  }
  std::vector<TypedMistake> operator()(const WorkedNumber& number) const {
    return of(number.wrong, [](const auto& wrong) { return shown_or_empty(wrong.value); });
  }
  std::vector<TypedMistake> operator()(const WorkedInstruction& pick) const {
    return of(pick.wrong, [](const auto& wrong) { return number_of(wrong.label); });
  }
  std::vector<TypedMistake> operator()(const WorkedChange& change) const {
    return of(change.wrong,
              [](const auto& wrong) { return fmt::format("{}", fmt::join(wrong.settings, " ")); });
  }

  template <typename Wrong, typename Typed>
  static std::vector<TypedMistake> of(const std::vector<Wrong>& all, const Typed& typed_as) {
    std::vector<TypedMistake> typed;
    for (const Wrong& wrong : all) typed.push_back({typed_as(wrong), wrong.mistake});
    return typed;
  }
};

}  // namespace

std::vector<TypedMistake> wrong_answers(const WorkedAsk& ask) {
  return std::visit(WrongAnswers{}, ask.kind);
}

std::string right_answer(const WorkedAsk& ask) {
  if (const auto* choose = std::get_if<WorkedChoose>(&ask.kind)) {
    for (std::size_t i = 0; i < choose->options.size(); ++i) {
      if (choose->options[i].right) return letter(i);
    }
  }
  if (const auto* order = std::get_if<WorkedOrder>(&ask.kind)) return letters_of(order->right);
  if (const auto* number = std::get_if<WorkedNumber>(&ask.kind)) return shown_or_empty(number->value);
  if (const auto* pick = std::get_if<WorkedInstruction>(&ask.kind)) return number_of(pick->right);
  if (const auto* change = std::get_if<WorkedChange>(&ask.kind))
    return fmt::format("{}", fmt::join(change->solution, " "));
  return {};
}

std::string right_answer_words(const WorkedAsk& ask) {
  if (const auto* choose = std::get_if<WorkedChoose>(&ask.kind)) {
    for (const WorkedOption& option : choose->options) {
      if (option.right) return option.answer;
    }
  }
  if (const auto* order = std::get_if<WorkedOrder>(&ask.kind)) {
    std::string text;
    for (const int number : order->right)
      text += (text.empty() ? "" : "; ") + order->items[static_cast<std::size_t>(number - 1)];
    return text;
  }
  if (const auto* pick = std::get_if<WorkedInstruction>(&ask.kind)) return pick->right;
  return right_answer(ask);
}

}  // namespace shardlab::lessons
