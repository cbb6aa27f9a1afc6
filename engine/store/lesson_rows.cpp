#include "engine/store/lesson_rows.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/store/lesson_tables.h"
#include "engine/store/write_run.h"

namespace shardlab {
namespace {

constexpr const char* k_begin_anew = "`shardlab lesson --reset` empties it; runs stay as they are";

bool is_sound(const SQLite::Column& lesson, std::int64_t step) {
  return lesson.isText() && !lesson.getString().empty() && step >= 1 && step <= 10'000;
}

tl::unexpected<Error> damaged(const Place& place, std::string_view what) {
  return bad_input(place, fmt::format("the table of {} is damaged", what), k_begin_anew);
}

// What SQLite says of a table that is gone or has other columns, with what to do.
template <typename Read>
auto read_sound(const Place& place, std::string_view what, const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const SQLite::Exception& exception) {
    return bad_input(place, fmt::format("the table of {} is damaged: {}", what, exception.what()),
                     k_begin_anew);
  }
}

}  // namespace

void write_lesson_answer(SQLite::Database& db, const LessonAnswer& answer) {
  SQLite::Statement insert(
      db, "INSERT INTO lesson_answers (created, lesson, step, answer, correct) VALUES (?, ?, ?, ?, ?)");
  insert.bind(1, created_or_now(answer.created));
  insert.bind(2, answer.lesson);
  insert.bind(3, answer.step);
  insert.bind(4, answer.answer);
  insert.bind(5, answer.right ? 1 : 0);
  insert.exec();
}

void write_lesson_progress(SQLite::Database& db, const LessonProgress& progress) {
  SQLite::Statement insert(db, "INSERT OR REPLACE INTO lesson_progress VALUES (?, ?, ?, ?)");
  insert.bind(1, progress.lesson);
  insert.bind(2, progress.step);
  insert.bind(3, progress.steps);
  insert.bind(4, progress.finished);
  insert.exec();
}

Result<std::vector<LessonAnswer>> read_lesson_answers(SQLite::Database& db, const Place& place) {
  constexpr std::string_view k_what = "answers in lessons";
  return read_sound(place, k_what, [&]() -> Result<std::vector<LessonAnswer>> {
    SQLite::Statement query(db,
                            "SELECT created, lesson, step, answer, correct FROM lesson_answers ORDER BY id");
    std::vector<LessonAnswer> answers;
    while (query.executeStep()) {
      const std::int64_t step = query.getColumn(2).getInt64(), correct = query.getColumn(4).getInt64();
      if (!is_sound(query.getColumn(1), step) || correct < 0 || correct > 1) return damaged(place, k_what);
      answers.push_back({query.getColumn(0).getInt64(), query.getColumn(1).getString(),
                         static_cast<int>(step), query.getColumn(3).getString(), correct == 1});
    }
    return answers;
  });
}

Result<std::vector<LessonProgress>> read_lesson_progress(SQLite::Database& db, const Place& place) {
  constexpr std::string_view k_what = "progress in lessons";
  return read_sound(place, k_what, [&]() -> Result<std::vector<LessonProgress>> {
    SQLite::Statement query(db, "SELECT lesson, step, steps, finished FROM lesson_progress ORDER BY lesson");
    std::vector<LessonProgress> progress;
    while (query.executeStep()) {
      const std::int64_t step = query.getColumn(1).getInt64(), steps = query.getColumn(2).getInt64();
      if (!is_sound(query.getColumn(0), step) || steps < step || steps > 10'000)
        return damaged(place, k_what);
      progress.push_back({query.getColumn(0).getString(), static_cast<int>(step), static_cast<int>(steps),
                          query.getColumn(3).getInt64()});
    }
    return progress;
  });
}

void make_lesson_tables_anew(SQLite::Database& db) {
  db.exec("DROP TABLE IF EXISTS lesson_answers");
  db.exec("DROP TABLE IF EXISTS lesson_progress");
  db.exec(std::string(k_lesson_tables));
}

}  // namespace shardlab
