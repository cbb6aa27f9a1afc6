#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "engine/lessons/worked_step.h"

namespace shardlab::lessons {
namespace {

// Evaluates the parts of one question.
struct QuestionWorker {
  const Place& place;
  const FigureSource& source;

  Result<WorkedMistake> mistake(const Mistake& mistake) const {
    SHARDLAB_TRY(std::string thought, filled(mistake.thought, source));
    return WorkedMistake{std::move(thought), mistake.source};
  }

  Result<WorkedQuestion> operator()(const ChooseQuestion& question) const;
  Result<WorkedQuestion> operator()(const OrderQuestion& question) const;
  Result<WorkedQuestion> operator()(const NumberQuestion& question) const;
  Result<WorkedQuestion> operator()(const InstructionQuestion& question) const;
  Result<WorkedQuestion> operator()(const ChangeQuestion& question) const;
};

Result<WorkedQuestion> QuestionWorker::operator()(const ChooseQuestion& question) const {
  WorkedChoose worked;
  int right = 0;
  for (const ChoiceOption& option : question.options) {
    WorkedOption shown;
    SHARDLAB_TRY(shown.answer, filled(option.answer, source));
    SHARDLAB_TRY(shown.right, evaluate_truth(option.right, source));
    SHARDLAB_TRY(shown.mistake, mistake(option.mistake));
    right += shown.right ? 1 : 0;
    if (shown.right && !shown.mistake.thought.empty())
      return bad_input(option.place,
                       fmt::format("'{}' is right ('{}'), but has the thought of a wrong answer",
                                   shown.answer, option.right.source));
    worked.options.push_back(std::move(shown));
  }
  if (right != 1)
    return bad_input(place, right == 0 ? "the question has no right answer: no `right` is yes"
                                       : fmt::format("the question has {} right answers", right));
  return worked;
}

Result<WorkedQuestion> QuestionWorker::operator()(const OrderQuestion& question) const {
  WorkedOrder worked;
  std::vector<Value> keys;
  for (const OrderItem& item : question.items) {
    SHARDLAB_TRY(std::string answer, filled(item.answer, source));
    worked.items.push_back(std::move(answer));
    SHARDLAB_TRY(Value key, evaluate(item.by, source));
    keys.push_back(std::move(key));
    SHARDLAB_CHECK_OK(combined("<", keys.front(), keys.back()));
  }
  worked.right.resize(keys.size());
  std::iota(worked.right.begin(), worked.right.end(), 1);
  const auto key_of = [&](int number) { return keys[static_cast<std::size_t>(number - 1)].number; };
  const bool in_order = std::is_sorted(worked.right.begin(), worked.right.end(),
                                       [&](int a, int b) { return key_of(a) < key_of(b); });
  if (in_order)
    return bad_input(place, "the items stand in the right order already", "list them in another one");
  std::sort(worked.right.begin(), worked.right.end(), [&](int a, int b) { return key_of(a) < key_of(b); });
  for (std::size_t i = 1; i < worked.right.size(); ++i) {
    if (key_of(worked.right[i - 1]) == key_of(worked.right[i]))
      return bad_input(place, fmt::format("items {} and {} are equal: no order is right", worked.right[i - 1],
                                          worked.right[i]));
  }
  for (const WrongOrder& wrong : question.wrong) {
    SHARDLAB_TRY(WorkedMistake made, mistake(wrong.mistake));
    if (wrong.order == worked.right) return bad_input(wrong.place, "this wrong order is the right one");
    worked.wrong.push_back({wrong.order, std::move(made)});
  }
  return worked;
}

bool is_near(const Value& value, const Value& other, double tolerance) {
  return std::abs(value.number - other.number) <= tolerance * std::abs(other.number) * (1 + 1e-9);
}

Result<WorkedQuestion> QuestionWorker::operator()(const NumberQuestion& question) const {
  WorkedNumber worked;
  worked.tolerance = question.tolerance;
  SHARDLAB_TRY(worked.value, evaluate(question.value, source));
  for (const WrongNumber& wrong : question.wrong) {
    SHARDLAB_TRY(Value value, evaluate(wrong.value, source));
    SHARDLAB_TRY(const Value same_kind, combined("-", value, worked.value));
    if (is_near(value, worked.value, worked.tolerance) || same_kind.number == 0)
      return bad_input(
          wrong.value.place,
          fmt::format("the wrong answer '{}' counts as right, within the tolerance", wrong.value.source));
    for (const WorkedNumber::Wrong& other : worked.wrong) {
      if (is_near(value, other.value, worked.tolerance))
        return bad_input(
            wrong.value.place,
            fmt::format("the wrong answer '{}' counts as the one before it, within the tolerance",
                        wrong.value.source));
    }
    SHARDLAB_TRY(WorkedMistake made, mistake(wrong.mistake));
    worked.wrong.push_back({std::move(value), std::move(made)});
  }
  return worked;
}

Result<std::string> label_of(const Expression& expression, const FigureSource& source) {
  SHARDLAB_TRY(const Value value, evaluate(expression, source));
  if (value.kind == ValueKind::text && !value.text.empty()) return value.text;
  return bad_input(expression.place, fmt::format("'{}' gives no instruction", expression.source),
                   "for example peak_instruction(a)");
}

Result<WorkedQuestion> QuestionWorker::operator()(const InstructionQuestion& question) const {
  WorkedInstruction worked;
  worked.scenario = question.scenario;
  SHARDLAB_TRY(worked.right, label_of(question.right, source));
  for (const WrongInstruction& wrong : question.wrong) {
    SHARDLAB_TRY(std::string label, label_of(wrong.label, source));
    if (label == worked.right)
      return bad_input(wrong.label.place, fmt::format("the wrong answer '{}' is right", wrong.label.source));
    SHARDLAB_TRY(WorkedMistake made, mistake(wrong.mistake));
    worked.wrong.push_back({std::move(label), std::move(made)});
  }
  return worked;
}

Result<WorkedQuestion> QuestionWorker::operator()(const ChangeQuestion& question) const {
  WorkedChange worked{question.scenario, question.keys, question.until, question.solution, {}};
  for (const WrongChange& wrong : question.wrong) {
    SHARDLAB_TRY(WorkedMistake made, mistake(wrong.mistake));
    worked.wrong.push_back({wrong.settings, std::move(made)});
  }
  return worked;
}

}  // namespace

Result<WorkedAsk> work_question(const AskStep& ask, const Place& place, const FigureSource& source) {
  WorkedAsk worked;
  SHARDLAB_TRY(worked.question, filled(ask.question, source));
  SHARDLAB_TRY(worked.kind, std::visit(QuestionWorker{place, source}, ask.kind));
  return worked;
}

}  // namespace shardlab::lessons
