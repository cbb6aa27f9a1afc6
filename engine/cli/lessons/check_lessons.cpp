#include "engine/cli/lessons/check_lessons.h"

#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/error_json.h"
#include "engine/cli/command.h"
#include "engine/cli/lessons/lesson_runs.h"
#include "engine/cli/lessons/open_lesson.h"
#include "engine/report/figures.h"
#include "simulator/lessons/check_lesson.h"

namespace shardlab {
namespace {

using lessons::CheckedLesson;

void add_all(const Error& error, std::vector<Error>& problems) {
  if (error.parts.empty()) problems.push_back(error);
  for (const Error& part : error.parts) problems.push_back(part);
}

// Trains what the lesson runs; how many runs there were.
int run_all(OpenLesson& open, RunStore& store, Console& console, std::vector<Error>& problems) {
  int count = 0;
  for (const lessons::LessonStep& step : open.lesson->steps) {
    const auto* const run = std::get_if<lessons::RunStep>(&step.kind);
    if (run == nullptr) continue;
    ++count;
    if (const Status done = run_for_lesson(*run, *open.subjects, store, console); !done) {
      problems.push_back(done.error());
      continue;
    }
    for (Error& problem : lessons::check_run(*run, *open.subjects)) problems.push_back(std::move(problem));
  }
  return count;
}

CheckedLesson check_one(const std::filesystem::path& folder, lessons::PredictionCache& cache, RunStore* store,
                        Console& console) {
  Result<OpenLesson> open = open_lesson(folder, cache);
  CheckedLesson checked;
  if (!open) {
    add_all(open.error(), checked.problems);
    return checked;
  }
  checked = lessons::check_lesson(*open->subjects);
  if (store != nullptr && checked.problems.empty()) run_all(*open, *store, console, checked.problems);
  return checked;
}

std::string line_of(const std::string& name, const CheckedLesson& checked, bool real) {
  if (checked.problems.empty())
    return fmt::format("  {:<32} good  {:>3} expressions {:>2} questions {:>2} pictures {:>2} runs{}\n", name,
                       checked.expressions, checked.questions, checked.pictures, checked.runs,
                       real && checked.runs > 0 ? " trained" : "");
  std::string text = fmt::format("  {:<32} {} wrong\n", name, checked.problems.size());
  for (const Error& problem : checked.problems) {
    text += "    " + message_text(problem) + "\n";
    if (!problem.hint.empty()) text += "      hint: " + problem.hint + "\n";
  }
  return text;
}

}  // namespace

Result<int> check_lessons(const std::vector<std::filesystem::path>& folders, RunStore* store,
                          Console& console) {
  const auto begin = std::chrono::steady_clock::now();
  lessons::PredictionCache cache;
  CheckedLesson sum;
  std::size_t problems = 0;
  Json list = Json::array();
  for (const std::filesystem::path& folder : folders) {
    const CheckedLesson checked = check_one(folder, cache, store, console);
    const std::string name = folder.lexically_normal().filename().string();
    console.print(line_of(name.empty() ? folder.string() : name, checked, store != nullptr));
    Json wrong = Json::array();
    for (const Error& problem : checked.problems) wrong.push_back(Json::parse(error_json(problem)));
    list.push_back({{"lesson", folder.string()},
                    {"problems", wrong},
                    {"expressions", checked.expressions},
                    {"runs", checked.runs}});
    sum.expressions += checked.expressions;
    sum.questions += checked.questions;
    sum.pictures += checked.pictures;
    sum.runs += checked.runs;
    problems += checked.problems.size();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  console.print(fmt::format(
      "{}, {}, {}, {}, {}{}: {} in {:.1f} s\n", counted(static_cast<std::int64_t>(folders.size()), "lesson"),
      counted(sum.expressions, "expression"), counted(sum.questions, "question"),
      counted(sum.pictures, "picture"), counted(sum.runs, "run"), store != nullptr ? " trained" : "",
      problems == 0 ? std::string("all good") : fmt::format("{} wrong", problems), seconds));
  if (console.json()) console.print_json({{"lessons", list}, {"problems", problems}});
  return problems == 0 ? k_exit_good : k_exit_verdict_not_met;
}

}  // namespace shardlab
