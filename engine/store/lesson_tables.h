// The tables of answers and progress of lessons.
#pragma once

#include <string_view>

namespace shardlab {

// For the migration, and for beginning anew.
inline constexpr std::string_view k_lesson_tables = R"sql(
CREATE TABLE lesson_answers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created INTEGER NOT NULL,       -- seconds since 1970-01-01 UTC
  lesson TEXT NOT NULL,
  step INTEGER NOT NULL,          -- from 1
  answer TEXT NOT NULL,
  correct INTEGER NOT NULL        -- 0 or 1
);

CREATE TABLE lesson_progress (
  lesson TEXT PRIMARY KEY,
  step INTEGER NOT NULL,          -- the last that was shown, from 1
  steps INTEGER NOT NULL,
  finished INTEGER NOT NULL       -- when; 0: not yet
) WITHOUT ROWID;
)sql";

}  // namespace shardlab
