#include "engine/cli/lessons/walk_lesson.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <variant>

#include <fmt/format.h>

#include "engine/cli/lessons/lesson_runs.h"
#include "engine/lessons/judge_answer.h"
#include "engine/lessons/markdown.h"
#include "engine/lessons/typed_settings.h"
#include "simulator/lessons/check_lesson.h"
#include "simulator/lessons/draw_look.h"
#include "simulator/lessons/draw_run.h"
#include "simulator/lessons/walked_lesson.h"

namespace shardlab {
namespace {

using lessons::StepKind;
using lessons::WalkedStep;

enum class Move { on, back, leave };

constexpr std::string_view k_back = "back";

bool goes_back(const std::string& typed) {
  return typed == "b" || typed == k_back;
}

class LessonWalker {
 public:
  explicit LessonWalker(const LessonWalk& walk)
      : walk_(walk), lesson_(*walk.open.lesson), style_(walk.console.style()) {
    style_.width = prose_width(style_);
  }

  Status walk(int first) {
    const int count = static_cast<int>(lesson_.steps.size());
    print_heading(first);
    count_earlier(first);
    for (int step = first; step >= 1 && step <= count;) {
      SHARDLAB_TRY(
          const WalkedStep walked,
          lessons::walk_step(lesson_.steps[static_cast<std::size_t>(step - 1)], *walk_.open.subjects));
      walk_.console.print(fmt::format("\n-- {} of {} {}\n\n", step, count, std::string(24, '-')));
      keep_progress(step, false);
      SHARDLAB_TRY(Move move, show(walked, step));
      if (move == Move::on && walk_.waits && walked.kind != StepKind::ask) move = wait(step == count);
      if (move == Move::leave) return leave(step);
      step = std::max(move == Move::back ? step - 1 : step + 1, 1);
    }
    keep_progress(count, true);
    print_end();
    return {};
  }

 private:
  void print(std::string_view text) { walk_.console.print(text); }
  void print_markdown(const std::string& text) {
    print(lessons::markdown_for_terminal(text, style_.width, style_.colour));
  }

  void print_heading(int first) {
    print(fmt::format("{}  ({} minutes)\nAfterwards you can {}.\n", lesson_.title, lesson_.minutes,
                      lesson_.able));
    if (walk_.waits)
      print(first > 1 ? "Enter goes on, back goes back, q leaves; you left off here.\n"
                      : "Enter goes on, back goes back, q leaves; what you did is kept.\n");
  }

  // Questions before the step at which a lesson goes on, as they were answered then.
  void count_earlier(int first) {
    if (first == 1 || walk_.store == nullptr) return;
    const auto answers = walk_.store->lesson_answers();
    for (const LessonAnswer& each : answers.value_or(std::vector<LessonAnswer>())) {
      if (each.lesson == lesson_.name && each.step < first) right_at_once_.emplace(each.step, each.right);
    }
    for (int step = 1; step < first; ++step) {  // those that were told have no answer
      if (std::holds_alternative<lessons::AskStep>(lesson_.steps[static_cast<std::size_t>(step - 1)].kind))
        right_at_once_.emplace(step, false);
    }
  }

  void print_end() {
    print(fmt::format("\n{} is done", lesson_.title));
    const auto right = std::count_if(right_at_once_.begin(), right_at_once_.end(),
                                     [](const auto& question) { return question.second; });
    if (!right_at_once_.empty())
      print(fmt::format(": {} of {} answered right at the first attempt", right, right_at_once_.size()));
    print(".\n");
  }

  Status leave(int step) {
    print(fmt::format("\nleft at step {}; `shardlab lesson {}` goes on from there\n", step, lesson_.name));
    return {};
  }

  void note(const Error& error) {
    walk_.console.note("note: " + message_text(error) +
                       (error.hint.empty() ? "" : "\n  hint: " + error.hint));
  }
  // Trouble with keeping is told once: it will not go away.
  void keep(const Status& status) {
    if (!status && !told_) note(status.error());
    told_ = told_ || !status;
  }
  void keep_progress(int step, bool finished) {
    if (walk_.store == nullptr) return;
    keep(walk_.store->save_lesson_progress(
        {lesson_.name, step, static_cast<int>(lesson_.steps.size()), finished ? now() : 0}));
  }
  static std::int64_t now() { return static_cast<std::int64_t>(std::time(nullptr)); }

  Move wait(bool last) {
    const auto typed = walk_.input({last ? "\n[Enter ends] " : "\n[Enter] "});
    if (!typed || *typed == "q") return Move::leave;
    return goes_back(*typed) ? Move::back : Move::on;
  }

  Result<Move> show(const WalkedStep& step, int number) {
    switch (step.kind) {
      case StepKind::text:
      case StepKind::reveal: print_markdown(step.text); return Move::on;
      case StepKind::look: return show_look(step);
      case StepKind::ask: return ask(step, number);
      case StepKind::run: return run(step);
      case StepKind::free: return try_changes(step);
    }
    return Move::on;
  }

  Result<Move> show_look(const WalkedStep& step) {
    SHARDLAB_TRY(const std::string picture, lessons::look_text(*step.look, *walk_.open.subjects, style_));
    print(picture);
    if (!step.text.empty()) {
      print("\n");
      print_markdown(step.text);
    }
    return Move::on;
  }

  void print_choices(const lessons::WorkedAsk& ask) {
    std::vector<std::string> texts;
    if (const auto* choose = std::get_if<lessons::WorkedChoose>(&ask.kind)) {
      for (const auto& option : choose->options) texts.push_back(option.answer);
    }
    if (const auto* order = std::get_if<lessons::WorkedOrder>(&ask.kind)) texts = order->items;
    if (!texts.empty()) print("\n");
    for (std::size_t i = 0; i < texts.size(); ++i)
      print_markdown(fmt::format("- **{}**  {}", static_cast<char>('a' + i), texts[i]));
  }

  // Until it is right, or somebody wants to be told; from a file as many attempts as there are.
  Result<Move> ask(const WalkedStep& step, int number) {
    print_markdown(step.text);
    print_choices(step.ask);
    ++asked_;
    const bool is_new = right_at_once_.emplace(number, false).second;
    const lessons::ChangeTrial trial = [&](const lessons::WorkedChange& change,
                                           const std::vector<std::string>& settings) {
      return walk_.open.subjects->reaches(change.scenario, settings, change.until);
    };
    const std::string prompt = fmt::format("\n{} (? tells): ", lessons::answer_form(step.ask));
    bool first = true;
    for (int attempt = 1;; ++attempt) {
      const auto typed = walk_.input({prompt, asked_, attempt});
      if (typed && *typed == "q") return Move::leave;
      if (typed && *typed == k_back && walk_.waits) return Move::back;  // b is an answer here
      if (!typed && walk_.waits) return Move::leave;
      if (!typed || *typed == "?") {
        print_markdown("\nThe answer: **" + lessons::right_answer_words(step.ask) + "**");
        return Move::on;
      }
      const lessons::Judgement judged = lessons::judge_answer(step.ask, *typed, trial);
      if (!judged.understood) {
        print_markdown(judged.reply);
        continue;
      }
      if (walk_.store != nullptr)
        keep(walk_.store->save_lesson_answer({0, lesson_.name, number, *typed, judged.right}));
      if (judged.right) {
        if (is_new && first) right_at_once_[number] = true;
        print_markdown("\n**That is right.**");
        return Move::on;
      }
      first = false;
      print_markdown("\n**Not so.** " + judged.reply);
      if (!judged.source.empty()) print_markdown("(seen in " + judged.source + ")");
    }
  }

  Result<Move> run(const WalkedStep& step) {
    print_markdown(step.text);
    bool wanted = walk_.real && walk_.store != nullptr;
    if (!wanted && walk_.waits && walk_.store != nullptr) {
      const auto typed = walk_.input({"\ntrain it now on this machine? [y/N] "});
      if (!typed || *typed == "q") return Move::leave;
      wanted = *typed == "y" || *typed == "yes";
    }
    if (!wanted) {
      print(fmt::format("\n  shardlab validate {}\n", lesson_.file_words(step.run->scenario)));
      return Move::on;
    }
    const Status done = run_for_lesson(*step.run, *walk_.open.subjects, *walk_.store, walk_.console);
    if (!done) {
      note(done.error());
      return Move::on;
    }
    print("\n" + lessons::figures_of_run(*step.run, *walk_.open.subjects) + "\n");
    for (const Error& problem : lessons::check_run(*step.run, *walk_.open.subjects)) note(problem);
    if (const auto after = lessons::filled(step.run->after, *walk_.open.subjects)) print_markdown(*after);
    return Move::on;
  }

  void show_change(const std::string& scenario, const std::vector<std::string>& settings) {
    const auto before = walk_.open.subjects->predicted(scenario);
    const auto after = walk_.open.subjects->predicted_with(scenario, settings);
    if (!before || !after) return note((before ? after : before).error());
    print(lessons::compared_text({{"before", *before}, {"changed", *after}}, style_));
  }

  Result<Move> try_changes(const WalkedStep& step) {
    print_markdown(step.text);
    print(fmt::format("\n  {}\n\n", fmt::join(step.free->settings, " ")));
    show_change(step.free->scenario, step.free->settings);
    while (walk_.waits) {
      const auto typed = walk_.input({"\nKEY=VALUE ... tries another (Enter goes on): "});
      if (!typed || *typed == "q") return Move::leave;
      if (goes_back(*typed)) return Move::back;
      if (typed->empty()) break;
      show_change(step.free->scenario, lessons::typed_settings(*typed));
    }
    return Move::on;
  }

  const LessonWalk& walk_;
  const lessons::Lesson& lesson_;
  TextStyle style_;
  int asked_ = 0;
  std::map<int, bool> right_at_once_;  // by step; who goes back is asked again and not counted again
  bool told_ = false;
};

}  // namespace

Status walk_lesson(const LessonWalk& walk, int first) {
  return LessonWalker(walk).walk(first);
}

}  // namespace shardlab
