// Answers and progress of lessons in the database. Without the transaction around them.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <vector>

#include "engine/base/result.h"
#include "engine/store/lesson_record.h"

namespace shardlab {

void write_lesson_answer(SQLite::Database& db, const LessonAnswer& answer);
void write_lesson_progress(SQLite::Database& db, const LessonProgress& progress);

// bad_input for values that no lesson writes: another program changed the file.
Result<std::vector<LessonAnswer>> read_lesson_answers(SQLite::Database& db, const Place& place);
Result<std::vector<LessonProgress>> read_lesson_progress(SQLite::Database& db, const Place& place);

// Whatever the tables were, they are there and empty afterwards.
void make_lesson_tables_anew(SQLite::Database& db);

}  // namespace shardlab
