// A step of a lesson with everything evaluated: what is shown and what is right.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/lessons/lesson.h"

namespace shardlab::lessons {

struct WorkedMistake {
  std::string thought;
  std::string source;
};

struct WorkedOption {
  std::string answer;
  bool right = false;
  WorkedMistake mistake;
};
struct WorkedChoose {
  std::vector<WorkedOption> options;
};

struct WorkedOrder {
  std::vector<std::string> items;  // as they are shown
  std::vector<int> right;          // their numbers, from 1, in the right order
  struct Wrong {
    std::vector<int> order;
    WorkedMistake mistake;
  };
  std::vector<Wrong> wrong;
};

struct WorkedNumber {
  Value value;
  double tolerance = 0;
  struct Wrong {
    Value value;
    WorkedMistake mistake;
  };
  std::vector<Wrong> wrong;
};

struct WorkedInstruction {
  std::string scenario;
  std::string right;  // "52 Backward s6 mb0"
  struct Wrong {
    std::string label;
    WorkedMistake mistake;
  };
  std::vector<Wrong> wrong;
};

struct WorkedChange {
  std::string scenario;
  std::vector<std::string> keys;
  Expression until;
  std::vector<std::string> solution;
  struct Wrong {
    std::vector<std::string> settings;
    WorkedMistake mistake;
  };
  std::vector<Wrong> wrong;
};

using WorkedQuestion = std::variant<WorkedChoose, WorkedOrder, WorkedNumber, WorkedInstruction, WorkedChange>;

struct WorkedAsk {
  std::string question;
  WorkedQuestion kind;
};

// Errors: those of filled() and evaluate(); bad_input at the question where not exactly one answer is right,
// where that one has a thought, where items cannot be ordered, where a wrong answer is right or is given
// twice. Whether a change reaches its goal is not asked here (check_change()).
Result<WorkedAsk> work_question(const AskStep& ask, const Place& place, const FigureSource& source);

// "b", "c a b", "81.1 MiB", "52", "train.micro_batch=2": what a learner would have to type.
std::string right_answer(const WorkedAsk& ask);

struct TypedMistake {
  std::string typed;
  WorkedMistake mistake;
};
// The wrong answers that the lesson knows, likewise as they would be typed.
std::vector<TypedMistake> wrong_answers(const WorkedAsk& ask);

// The right one said in full: the text of the option, the items in their order.
std::string right_answer_words(const WorkedAsk& ask);

}  // namespace shardlab::lessons
