#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/lessons/lesson_reader.h"

namespace shardlab::lessons {
namespace {

constexpr std::size_t k_most_options = 8;

// Whether an expression asks anything of a scenario, rather than being a constant.
bool asks_results(const Expression& expression) {
  bool asks = false;
  visit_nodes(expression.root,
              [&](const ExpressionNode& node) { asks |= node.kind == ExpressionNode::Kind::name; });
  return asks;
}

void needs_results(const Expression& expression, const std::string& name, LessonReader& reader) {
  if (!expression.source.empty() && !asks_results(expression))
    reader.refuse(expression.place, name,
                  fmt::format("'{}' asks nothing of a scenario: an answer is computed", expression.source),
                  "for example peak_allocated(a) < peak_allocated(b)");
}

ChooseQuestion read_choose(const YamlNode& ask, const std::string& name, LessonReader& reader) {
  ChooseQuestion question;
  for (const YamlNode& node : reader.list(ask, "choose", name)) {
    ChoiceOption option;
    option.place = node.place;
    if (!reader.is_section(node, name, {"answer", "right"}, {"thought", "source"})) continue;
    option.answer = reader.text(node, "answer", name);
    option.right = reader.expression(node, "right", name);
    needs_results(option.right, name, reader);
    if (node.find("thought") != nullptr || node.find("source") != nullptr)
      option.mistake = reader.mistake(node, name);
    question.options.push_back(std::move(option));
  }
  if (question.options.size() < 2 || question.options.size() > k_most_options)
    reader.refuse(
        ask.place, name,
        fmt::format("{} answers to choose from: 2 to {} may be", question.options.size(), k_most_options));
  const auto with_mistake = std::count_if(question.options.begin(), question.options.end(),
                                          [](const auto& option) { return !option.mistake.thought.empty(); });
  if (with_mistake + 1 != static_cast<std::ptrdiff_t>(question.options.size()))
    reader.refuse(
        ask.place, name,
        "one answer is right and has no thought, every other one is wrong and has thought and source");
  return question;
}

std::vector<int> read_order_of(const YamlNode& node, const std::string& name, std::size_t count,
                               LessonReader& reader) {
  std::vector<int> order;
  for (const YamlNode& item : reader.list(node, "order", name)) {
    const auto place = parse_integer(item.text);
    order.push_back(place ? static_cast<int>(*place) : 0);
  }
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool whole = sorted.size() == count;
  for (std::size_t i = 0; i < sorted.size(); ++i) whole = whole && sorted[i] == static_cast<int>(i) + 1;
  if (!whole)
    reader.refuse(node.place, name,
                  fmt::format("an order names each of the {} items once, by its number", count));
  return order;
}

OrderQuestion read_order(const YamlNode& ask, const std::string& name, LessonReader& reader) {
  OrderQuestion question;
  for (const YamlNode& node : reader.list(ask, "order", name)) {
    if (!reader.is_section(node, name, {"answer", "by"})) continue;
    question.items.push_back({reader.text(node, "answer", name), reader.expression(node, "by", name)});
    needs_results(question.items.back().by, name, reader);
  }
  if (question.items.size() < 2 || question.items.size() > k_most_options)
    reader.refuse(ask.place, name,
                  fmt::format("{} items to order: 2 to {} may be", question.items.size(), k_most_options));
  for (const YamlNode& node : reader.list(ask, "wrong", name)) {
    if (!reader.is_section(node, name + ".wrong", {"order", "thought", "source"})) continue;
    question.wrong.push_back({read_order_of(node, name + ".wrong", question.items.size(), reader),
                              reader.mistake(node, name + ".wrong"), node.place});
  }
  return question;
}

NumberQuestion read_number(const YamlNode& ask, const std::string& name, LessonReader& reader) {
  NumberQuestion question;
  question.value = reader.expression(ask, "number", name);
  needs_results(question.value, name, reader);
  const auto tolerance = parse_fraction(reader.word(ask, "tolerance", name));
  if (tolerance && *tolerance >= 0 && *tolerance < 1)
    question.tolerance = *tolerance;
  else
    reader.refuse(ask.place, name, "a number needs a tolerance, a share from 0 to 100 %", "tolerance: 10%");
  for (const YamlNode& node : reader.list(ask, "wrong", name)) {
    if (!reader.is_section(node, name + ".wrong", {"value", "thought", "source"})) continue;
    question.wrong.push_back(
        {reader.expression(node, "value", name + ".wrong"), reader.mistake(node, name + ".wrong")});
  }
  return question;
}

InstructionQuestion read_instruction(const YamlNode& ask, const std::string& name, LessonReader& reader) {
  InstructionQuestion question;
  question.scenario = reader.word(ask, "scenario", name);
  question.right = reader.expression(ask, "instruction", name);
  needs_results(question.right, name, reader);
  if (ask.find("scenario") == nullptr) reader.refuse(ask.place, name, "scenario is required");
  for (const YamlNode& node : reader.list(ask, "wrong", name)) {
    if (!reader.is_section(node, name + ".wrong", {"instruction", "thought", "source"})) continue;
    question.wrong.push_back(
        {reader.expression(node, "instruction", name + ".wrong"), reader.mistake(node, name + ".wrong")});
  }
  return question;
}

ChangeQuestion read_change(const YamlNode& ask, const std::string& name, LessonReader& reader) {
  ChangeQuestion question;
  question.scenario = reader.word(ask, "change", name);
  question.keys = reader.words(ask, "keys", name);
  question.until = reader.expression(ask, "until", name);
  needs_results(question.until, name, reader);
  question.solution = reader.settings(ask, "solution", name);
  for (const std::string_view key : {"keys", "until", "solution"}) {
    if (ask.find(key) == nullptr) reader.refuse(ask.place, name, fmt::format("{} is required", key));
  }
  for (const YamlNode& node : reader.list(ask, "wrong", name)) {
    if (!reader.is_section(node, name + ".wrong", {"set", "thought", "source"})) continue;
    question.wrong.push_back(
        {reader.settings(node, "set", name + ".wrong"), reader.mistake(node, name + ".wrong"), node.place});
  }
  return question;
}

struct QuestionForm {
  std::string_view key;  // that says which kind of question it is
  std::vector<std::string> others;
};

const std::vector<QuestionForm>& forms() {
  static const std::vector<QuestionForm> all = {{"choose", {}},
                                                {"order", {"wrong"}},
                                                {"number", {"tolerance", "wrong"}},
                                                {"instruction", {"scenario", "wrong"}},
                                                {"change", {"keys", "until", "solution", "wrong"}}};
  return all;
}

}  // namespace

AskStep read_question(const YamlNode& node, const std::string& name, LessonReader& reader) {
  AskStep ask;
  const QuestionForm* form = nullptr;
  std::vector<std::string> known;
  for (const QuestionForm& each : forms()) {
    known.emplace_back(each.key);
    if (node.find(each.key) != nullptr) form = &each;
  }
  if (node.is_map() && form == nullptr) {
    reader.refuse(node.place, name, "the question has no right answer",
                  fmt::format("one of {} says how it is answered", fmt::join(known, ", ")));
    return ask;
  }
  std::vector<std::string> optional = form == nullptr ? std::vector<std::string>() : form->others;
  if (!reader.is_section(node, name, {"question", form == nullptr ? "choose" : std::string(form->key)},
                         optional))
    return ask;
  ask.question = reader.text(node, "question", name);
  const bool has_wrong = form->key != "choose";
  if (has_wrong && node.find("wrong") == nullptr)
    reader.refuse(node.place, name,
                  "wrong is required: the answers that people give, and the thoughts behind them");
  if (form->key == "choose") ask.kind = read_choose(node, name, reader);
  if (form->key == "order") ask.kind = read_order(node, name, reader);
  if (form->key == "number") ask.kind = read_number(node, name, reader);
  if (form->key == "instruction") ask.kind = read_instruction(node, name, reader);
  if (form->key == "change") ask.kind = read_change(node, name, reader);
  return ask;
}

}  // namespace shardlab::lessons
