// A lesson as its file says it: texts, questions and pictures over scenarios, nothing evaluated yet.
//
// docs/writing-lessons.md is the reference of the file. Everything that a learner reads is a LessonText and
// every answer an expression, so that what a lesson says comes from plans, predictions and runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/words.h"
#include "engine/lessons/lesson_text.h"

namespace shardlab::lessons {

// A scenario beside the lesson's file, with settings of its own laid upon it.
struct LessonScenario {
  std::string name;
  std::string file{};                   // relative to the lesson's folder
  std::vector<std::string> settings{};  // key=value, as for --set
  bool refused = false;                 // the lesson is about why it does not read or cannot be planned
  Place place{};
};

// What a lesson takes for given and no prediction knows: a price, a number of tokens.
struct Assumption {
  std::string name;
  Value value{};
  std::string source{};
  Place place{};
};

// Which panel of the window, or picture of it, a step shows.
enum class LookPanel : std::uint8_t { memory, timeline, plan, player, fit, compare, scenario };

struct LookStep {
  LookPanel panel = LookPanel::memory;
  std::vector<std::string> scenarios;  // one; `compare` takes more
  int rank = 0;
  std::string plan_step;    // setup, first or steady
  std::string instruction;  // its number, its name ("AllGather u1"), or peak; empty: none
  std::string from, to;     // likewise: a part of the plan or of the timeline
  std::string highlight;    // a class of buffer or a stream; empty: none
  LessonText say;
};

// A wrong answer that people give, and why they do.
struct Mistake {
  LessonText thought;  // what they thought, and what is wrong with it
  std::string source;  // where somebody did: a thread or an issue, with its address
};

struct ChoiceOption {
  LessonText answer;
  Expression right;  // yes for the one that is right
  Mistake mistake;   // of the others
  Place place;
};
struct ChooseQuestion {
  std::vector<ChoiceOption> options;
};

struct OrderItem {
  LessonText answer;
  Expression by;  // ascending
};
struct WrongOrder {
  std::vector<int> order;  // of the items, from 1
  Mistake mistake;
  Place place;
};
struct OrderQuestion {
  std::vector<OrderItem> items;
  std::vector<WrongOrder> wrong;
};

struct WrongNumber {
  Expression value;
  Mistake mistake;
};
struct NumberQuestion {
  Expression value;
  double tolerance = 0;  // a share of the value
  std::vector<WrongNumber> wrong;
};

struct WrongInstruction {
  Expression label;
  Mistake mistake;
};
struct InstructionQuestion {
  std::string scenario;
  Expression right;  // the label of an instruction of its steady plan
  std::vector<WrongInstruction> wrong;
};

struct WrongChange {
  std::vector<std::string> settings;
  Mistake mistake;
  Place place;
};
struct ChangeQuestion {
  std::string scenario;
  std::vector<std::string> keys;      // that may be changed
  Expression until;                   // of `changed`: the scenario with the settings
  std::vector<std::string> solution;  // settings that reach it
  std::vector<WrongChange> wrong;
};

struct AskStep {
  LessonText question;
  std::variant<ChooseQuestion, OrderQuestion, NumberQuestion, InstructionQuestion, ChangeQuestion> kind;
};

struct RunStep {
  std::string scenario;
  LessonText say;
  std::vector<Expression> holds;  // of the run
  LessonText after;               // may speak of run(scenario)
};

struct TryStep {
  std::string scenario;
  std::vector<std::string> settings;  // key=value, proposed
  LessonText say;
};

struct TextStep {
  LessonText text;
};
struct RevealStep {
  LessonText text;
};

struct LessonStep {
  std::variant<TextStep, LookStep, AskStep, RevealStep, RunStep, TryStep> kind;
  // What the window shows beside a text, a question or an answer; it says nothing of its own.
  std::optional<LookStep> show;
  Place place;
};

struct Lesson {
  std::string name;  // of its folder: 03-three-cuts
  std::filesystem::path folder;
  std::string title;
  int minutes = 0;
  std::string able;                  // what one can do afterwards
  std::vector<std::string> needs;    // lessons before it, by name
  std::vector<std::string> teaches;  // words of the glossary
  std::vector<LessonScenario> scenarios;
  std::vector<Assumption> assumptions;
  std::vector<LessonStep> steps;
  Place place;

  // Null for an unknown name.
  const LessonScenario* find_scenario(const std::string& scenario) const;
  // The file of a scenario that there is, with its settings, as the command line takes them.
  std::string file_words(const std::string& scenario) const;
  int question_count() const;  // of steps that ask
};

}  // namespace shardlab::lessons

namespace shardlab {
template <>
inline constexpr auto k_words<lessons::LookPanel> =
    std::to_array<Word<lessons::LookPanel>>({{lessons::LookPanel::memory, "memory"},
                                             {lessons::LookPanel::timeline, "timeline"},
                                             {lessons::LookPanel::plan, "plan"},
                                             {lessons::LookPanel::player, "player"},
                                             {lessons::LookPanel::fit, "fit"},
                                             {lessons::LookPanel::compare, "compare"},
                                             {lessons::LookPanel::scenario, "scenario"}});
}  // namespace shardlab
