#include "gui/view_model/lessons/lesson_desk.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "engine/lessons/judge_answer.h"
#include "engine/lessons/read_lesson.h"
#include "engine/trace/comparison.h"
#include "simulator/lessons/check_lesson.h"
#include "simulator/lessons/draw_run.h"

namespace shardlab::view {
namespace {

// With another program's lock, before it is told.
constexpr std::chrono::seconds k_patience{2};

Error no_lesson() {
  return {ErrorKind::internal, "lesson", "no lesson is open", {}};
}

}  // namespace

void LessonDesk::use_database(const std::filesystem::path& file) {
  if (file == database_) return;
  database_ = file;
  trouble_.reset();
}

// Opened anew each time: by then the file may be another one.
template <typename Keep>
void LessonDesk::keep(const Keep& keep) {
  if (database_.empty()) return;
  Result<RunStore> store = RunStore::open(database_, OpenMode::create, k_patience);
  const Status kept = store ? keep(*store) : Status(fail(store.error()));
  trouble_ = kept ? std::nullopt : std::optional(kept.error());
}

void LessonDesk::keep_progress(int step, bool finished) {
  keep([&](RunStore& store) {
    return store.save_lesson_progress({lesson_->name, step, static_cast<int>(lesson_->steps.size()),
                                       finished ? static_cast<std::int64_t>(std::time(nullptr)) : 0});
  });
}

// A database that is not there yet, or cannot tell, is no reason not to list the lessons.
LessonDesk::KeptLessons LessonDesk::read_kept() {
  KeptLessons kept;
  const auto read = [&]() -> Status {
    SHARDLAB_TRY(const RunStore store, RunStore::open(database_, OpenMode::existing, k_patience));
    SHARDLAB_TRY(kept.progress, store.lesson_progress());
    SHARDLAB_TRY(kept.answers, store.lesson_answers());
    return {};
  };
  const Status status = database_.empty() ? Status() : read();
  const bool is_good = status || status.error().code == ErrorCode::no_database;
  trouble_ = is_good ? std::nullopt : std::optional(status.error());
  return kept;
}

Status LessonDesk::read_course() {
  if (course_) return {};
  SHARDLAB_TRY(lessons::Course course,
               course_folder_.empty() ? lessons::shipped_course() : lessons::read_course(course_folder_));
  std::vector<lessons::Lesson> read;
  for (const std::string& name : course.lessons()) {
    SHARDLAB_TRY(lessons::Lesson lesson, lessons::read_lesson(course.folder / name));
    read.push_back(std::move(lesson));
  }
  read_ = std::move(read);
  course_ = std::move(course);
  return {};
}

Result<LessonShelf> LessonDesk::shelf() {
  SHARDLAB_CHECK_OK(read_course());
  const KeptLessons kept = read_kept();
  return make_shelf(*course_, read_, kept.progress, kept.answers);
}

Result<LessonHead> LessonDesk::open(const std::string& lesson, int step) {
  // A folder is one without any course.
  const bool has_course = read_course().has_value();
  SHARDLAB_TRY(const std::filesystem::path folder,
               lessons::find_lesson(has_course ? *course_ : lessons::Course{}, lesson));
  SHARDLAB_TRY(lessons::Lesson read, lessons::read_lesson(folder));
  walked_ = {};
  step_ = 0;
  subjects_.reset();
  lesson_ = std::make_unique<const lessons::Lesson>(std::move(read));
  subjects_ = std::make_unique<lessons::LessonSubjects>(*lesson_, cache_);
  LessonHead head{.name = lesson_->name,
                  .title = lesson_->title,
                  .able = lesson_->able,
                  .folder = lesson_->folder,
                  .minutes = lesson_->minutes,
                  .steps = static_cast<int>(lesson_->steps.size())};
  head.first = std::clamp(step, 1, std::max(head.steps, 1));
  if (step == 0) head.first = step_to_go_on_with(read_kept().progress, head.name, head.steps);
  return head;
}

Result<StepPage> LessonDesk::page(int step) {
  if (!lesson_ || step < 1 || step > static_cast<int>(lesson_->steps.size())) return fail(no_lesson());
  keep_progress(step, false);
  step_ = 0;
  SHARDLAB_TRY(walked_, lessons::walk_step(lesson_->steps[static_cast<std::size_t>(step - 1)], *subjects_));
  step_ = step;
  return make_step_page(step, walked_, *subjects_);
}

LessonReply LessonDesk::judge(const std::string& typed) {
  const lessons::ChangeTrial trial = [&](const lessons::WorkedChange& change,
                                         const std::vector<std::string>& settings) {
    return subjects_->reaches(change.scenario, settings, change.until);
  };
  const lessons::Judgement judged = lessons::judge_answer(walked_.ask, typed, trial);
  if (judged.understood && step_ > 0)
    keep([&](RunStore& store) {
      return store.save_lesson_answer({0, lesson_->name, step_, typed, judged.right});
    });
  return {typed, judged.understood, judged.right, lessons::parse_markdown(judged.reply), judged.source};
}

Result<std::string> LessonDesk::effect(const std::vector<std::string>& settings) const {
  if (walked_.free == nullptr) return fail(no_lesson());
  return effect_of_settings(walked_.free->scenario, settings, *subjects_);
}

Result<LessonRun> LessonDesk::take_run(RunId id) {
  if (walked_.run == nullptr) return fail(no_lesson());
  const lessons::RunStep& run = *walked_.run;
  SHARDLAB_TRY(const RunStore store, RunStore::open(database_, OpenMode::existing, k_patience));
  SHARDLAB_TRY(RunRecord record, store.load(id));
  SHARDLAB_TRY(const lessons::PredictedSubject* predicted, subjects_->predicted(run.scenario));
  SHARDLAB_TRY(Comparison comparison,
               compare(predicted->planned.plan.steady, {predicted->summary, predicted->trace},
                       {record.summary, record.trace}, {}));
  subjects_->take_run(run.scenario,
                      {std::move(record.trace), std::move(record.summary), std::move(comparison)});
  LessonRun done{lessons::figures_of_run(run, *subjects_), lessons::check_run(run, *subjects_), {}};
  if (const auto after = lessons::filled(run.after, *subjects_)) done.after = lessons::parse_markdown(*after);
  return done;
}

void LessonDesk::finish() {
  if (lesson_) keep_progress(static_cast<int>(lesson_->steps.size()), true);
}

}  // namespace shardlab::view
