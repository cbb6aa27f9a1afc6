// How far somebody came in the lessons, and what was answered.
#pragma once

#include <cstdint>
#include <string>

namespace shardlab {

struct LessonAnswer {
  std::int64_t created = 0;  // seconds since 1970-01-01 UTC; 0 when saved: now
  std::string lesson;        // its name
  int step = 0;              // from 1
  std::string answer;        // as it was typed
  bool right = false;

  friend bool operator==(const LessonAnswer&, const LessonAnswer&) = default;
};

struct LessonProgress {
  std::string lesson;
  int step = 0;               // the last that was shown, from 1
  int steps = 0;              // that the lesson had then
  std::int64_t finished = 0;  // likewise; 0: not yet

  friend bool operator==(const LessonProgress&, const LessonProgress&) = default;
};

}  // namespace shardlab
