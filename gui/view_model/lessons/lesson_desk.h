// Where a lesson lies open: its scenarios predicted, its answers judged, its progress kept in the database.
//
// Knows no thread: everything here may take seconds, which is why the window has a LessonJob do it. Belongs
// to one thread.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/run_store.h"
#include "gui/view_model/lessons/lesson_shelf.h"
#include "gui/view_model/lessons/step_page.h"

namespace shardlab::view {

// The lesson that lies open.
struct LessonHead {
  std::string name, title, able;
  std::filesystem::path folder;
  int minutes = 0, steps = 0;
  int first = 1;  // the step to begin with
};

// What an answer came to, in the lesson's words.
struct LessonReply {
  std::string typed;
  bool understood = false, right = false;
  MarkdownText reply;
  std::string source;  // where somebody made the same mistake; may be empty
};

// What a real run gave.
struct LessonRun {
  std::string figures;          // a table for a font of one width
  std::vector<Error> problems;  // what does not hold of it
  MarkdownText after;
};

class LessonDesk {
 public:
  // An empty folder: the course that ships with the program.
  explicit LessonDesk(std::filesystem::path course_folder = {}) : course_folder_(std::move(course_folder)) {}

  // Where progress and answers are kept, made when it is missing; an empty path: nowhere.
  void use_database(const std::filesystem::path& file);
  // Why the last reading or keeping failed, which is no reason not to go on.
  const std::optional<Error>& trouble() const { return trouble_; }

  // Errors: those of the course and of its lessons.
  Result<LessonShelf> shelf();

  // A number or a part of a name in the course, or a folder; `step` is the first that is shown, 0: the one
  // where it was left. Errors: those of find_lesson() and read_lesson(); the lesson before stays open then.
  Result<LessonHead> open(const std::string& lesson, int step);
  // The step of that number, from 1; keeps that it was reached. Errors: what its expressions say.
  Result<StepPage> page(int step);
  // What is typed answers the question that page() gave last; the answer is kept.
  LessonReply judge(const std::string& typed);
  // What settings do to the scenario of the try that page() gave last. Errors: what it does not allow.
  Result<std::string> effect(const std::vector<std::string>& settings) const;
  // The stored run is that of the run that page() gave last. Errors: what loading and comparing it say.
  Result<LessonRun> take_run(RunId id);
  // The lesson was gone through to its end.
  void finish();

 private:
  struct KeptLessons {
    std::vector<LessonProgress> progress;
    std::vector<LessonAnswer> answers;
  };

  Status read_course();
  KeptLessons read_kept();
  template <typename Keep>
  void keep(const Keep& keep);
  void keep_progress(int step, bool finished);

  std::filesystem::path course_folder_, database_;
  std::optional<Error> trouble_;
  std::optional<lessons::Course> course_;  // and its lessons
  std::vector<lessons::Lesson> read_;
  lessons::PredictionCache cache_;
  std::unique_ptr<const lessons::Lesson> lesson_;  // what the next two refer to
  std::unique_ptr<lessons::LessonSubjects> subjects_;
  lessons::WalkedStep walked_;
  int step_ = 0;
};

}  // namespace shardlab::view
