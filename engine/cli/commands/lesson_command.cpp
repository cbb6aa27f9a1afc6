#include <unistd.h>

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/output_file.h"
#include "engine/cli/command.h"
#include "engine/cli/lessons/check_lessons.h"
#include "engine/cli/lessons/lesson_json.h"
#include "engine/cli/lessons/lesson_list.h"
#include "engine/cli/lessons/walk_lesson.h"
#include "engine/cli/stored_runs.h"
#include "engine/lessons/read_lesson.h"
#include "simulator/lessons/figure_list.h"
#include "simulator/lessons/lesson_page.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

class LessonCommand final : public Command {
 public:
  std::string_view name() const override { return "lesson"; }
  std::string_view help() const override {
    return "Lessons: what a step holds, what it waits for, what goes wrong";
  }
  std::string_view details() const override {
    return "Without LESSON the course with what is done of it. LESSON is its number or name, or a folder "
           "with a\n"
           "lesson.yaml of somebody's own.";
  }
  CommonUse uses() const override { return {.database = true, .overrides = false}; }

  void add_options(OptionParser& parser) override {
    parser.value("lesson", lesson_, "Which: 3, 03, a part of its name, a folder").type("LESSON");
    parser.value("--answers", answers_, "Take the answers from this file, a list in YAML, and ask nobody")
        .type("FILE");
    parser.flag("--from-start", from_start_, "Begin at the first step, wherever it was left");
    parser.value("--html", html_, "Write it as a page, without LESSON the whole course").type("FILE");
    parser.flag("--check", check_, "Whether all figures, questions and pictures still hold");
    parser.flag("--real", real_, "With --check or --answers: also train what lessons train");
    parser.value("--csv", csv_, "Write all answers, one a line").type("FILE");
    parser.flag("--reset", reset_, "Forget all progress and answers");
    parser.flag("--document", document_, "Print the functions of expressions, for docs/writing-lessons.md");
  }

  Result<int> run(CommandContext& context) override {
    if (document_) return print(context.console, lessons::figure_reference());
    if (reset_) return reset(context);
    if (!csv_.empty()) return write_csv(context);
    SHARDLAB_TRY(const lessons::Course course, lessons::shipped_course());
    std::vector<fs::path> folders;
    if (!lesson_.empty()) {
      SHARDLAB_TRY(fs::path folder, lessons::find_lesson(course, lesson_));
      folders.push_back(std::move(folder));
    } else {
      for (const std::string& each : course.lessons()) folders.push_back(course.folder / each);
    }
    if (check_) return check(context, folders);
    if (!html_.empty()) return write_page(context, folders);
    if (lesson_.empty()) return list(context, course);
    return walk(context, folders.front());
  }

 private:
  static Result<int> print(Console& console, const std::string& text) {
    if (console.json())
      console.print_json({{"reference", text}});
    else
      console.print(text);
    return k_exit_good;
  }

  Result<int> reset(const CommandContext& context) const {
    SHARDLAB_TRY(RunStore store, open_or_create_runs(context.options));
    SHARDLAB_CHECK_OK(store.forget_lessons());
    return print(context.console, "forgotten: all progress and answers of lessons; runs are kept\n");
  }

  Result<int> write_csv(const CommandContext& context) const {
    SHARDLAB_TRY(const RunStore store, open_or_create_runs(context.options));
    SHARDLAB_TRY(const std::vector<LessonAnswer> answers, store.lesson_answers());
    SHARDLAB_CHECK_OK(write_output_file(csv_, answers_csv(answers)));
    return print(context.console, fmt::format("written: {}, {} answers\n", csv_, answers.size()));
  }

  Result<int> check(const CommandContext& context, const std::vector<fs::path>& folders) const {
    std::optional<RunStore> store;
    if (real_) {
      SHARDLAB_TRY(RunStore opened, open_or_create_runs(context.options));
      store.emplace(std::move(opened));
    }
    return check_lessons(folders, store ? &*store : nullptr, context.console);
  }

  Result<int> write_page(const CommandContext& context, const std::vector<fs::path>& folders) const {
    lessons::PredictionCache cache;
    std::vector<OpenLesson> open;
    std::vector<const lessons::LessonSubjects*> subjects;
    for (const fs::path& folder : folders) {
      SHARDLAB_TRY(OpenLesson each, open_lesson(folder, cache));
      open.push_back(std::move(each));
      subjects.push_back(open.back().subjects.get());
    }
    const std::string title =
        folders.size() == 1 ? open.front().lesson->title : "Lessons in sharded training";
    SHARDLAB_TRY(const std::string page, lessons::lesson_page(subjects, title));
    SHARDLAB_CHECK_OK(write_output_file(html_, page));
    return print(context.console, fmt::format("written: {}\n", html_));
  }

  // A database that cannot tell is no reason not to list the lessons.
  static void read_progress(const CommandContext& context, LessonOverview& overview) {
    const Result<RunStore> store = open_runs(context.options);
    if (!store && store.error().code == ErrorCode::no_database) return;
    const auto take = [&](auto result, auto& target) {
      if (result) {
        target = *std::move(result);
        return true;
      }
      context.console.note("note: " + message_text(result.error()) + "\n  hint: " + result.error().hint);
      return false;
    };
    if (!store) {
      context.console.note("note: " + message_text(store.error()));
      return;
    }
    if (take(store->lesson_progress(), overview.progress)) take(store->lesson_answers(), overview.answers);
  }

  static Result<int> list(const CommandContext& context, const lessons::Course& course) {
    LessonOverview overview{course, {}, {}, {}};
    for (const std::string& each : course.lessons()) {
      SHARDLAB_TRY(lessons::Lesson lesson, lessons::read_lesson(course.folder / each));
      overview.lessons.push_back({each, std::move(lesson)});
    }
    read_progress(context, overview);
    if (context.console.json())
      context.console.print_json(overview_json(overview));
    else
      context.console.print(overview_text(overview, context.console.style()));
    return k_exit_good;
  }

  // Where the lesson was left; 1 where it was not, was finished, or has other steps now.
  static int first_step(const RunStore& store, const lessons::Lesson& lesson, Console& console) {
    const auto progress = store.lesson_progress();
    if (!progress) {
      console.note("note: " + message_text(progress.error()) + "\n  hint: " + progress.error().hint);
      return 1;
    }
    return step_to_go_on_with(*progress, lesson.name, static_cast<int>(lesson.steps.size()));
  }

  Result<int> walk(const CommandContext& context, const fs::path& folder) const {
    Console& console = context.console;
    lessons::PredictionCache cache;
    SHARDLAB_TRY(OpenLesson open, open_lesson(folder, cache));
    if (console.json()) {
      SHARDLAB_TRY(const Json json, lesson_json(open));
      console.print_json(json);
      return k_exit_good;
    }
    LessonWalk walked{.open = open, .console = console, .input = {}};
    std::vector<std::vector<std::string>> answers;
    if (!answers_.empty()) {
      SHARDLAB_TRY(answers, read_answers(answers_));
      walked.input = take_from(answers);
      walked.waits = false;
      walked.real = real_;
    } else {
      if (isatty(STDIN_FILENO) != 1)
        return bad_input("lesson", "nobody is there to answer: the input is no terminal",
                         "--answers FILE, --html FILE or --json");
      walked.input = [&console](const LessonPrompt& prompt) -> std::optional<std::string> {
        console.print(prompt.text);
        std::string line;
        if (!std::getline(std::cin, line)) return std::nullopt;
        return line;
      };
    }
    Result<RunStore> store = open_or_create_runs(context.options);
    if (store)
      walked.store = &*store;
    else
      console.note("note: nothing is kept: " + message_text(store.error()));
    const bool begins = from_start_ || !answers_.empty() || !store;
    SHARDLAB_CHECK_OK(walk_lesson(walked, begins ? 1 : first_step(*store, *open.lesson, console)));
    return k_exit_good;
  }

  static LessonInput take_from(const std::vector<std::vector<std::string>>& answers) {
    return [&answers](const LessonPrompt& prompt) -> std::optional<std::string> {
      const auto question = static_cast<std::size_t>(prompt.question),
                 attempt = static_cast<std::size_t>(prompt.attempt);
      if (question == 0 || question > answers.size() || attempt > answers[question - 1].size())
        return std::nullopt;
      return answers[question - 1][attempt - 1];
    };
  }

  std::string lesson_, answers_, html_, csv_;
  bool from_start_ = false;
  bool check_ = false;
  bool real_ = false;
  bool reset_ = false;
  bool document_ = false;
};

}  // namespace

std::unique_ptr<Command> make_lesson_command() {
  return std::make_unique<LessonCommand>();
}

}  // namespace shardlab
