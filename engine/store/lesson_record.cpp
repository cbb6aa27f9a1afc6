#include "engine/store/lesson_record.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace shardlab {

const LessonProgress* progress_in(const std::vector<LessonProgress>& progress, const std::string& lesson) {
  const auto found = std::find_if(progress.begin(), progress.end(),
                                  [&](const LessonProgress& each) { return each.lesson == lesson; });
  return found == progress.end() ? nullptr : &*found;
}

int step_to_go_on_with(const std::vector<LessonProgress>& progress, const std::string& lesson, int steps) {
  const LessonProgress* const kept = progress_in(progress, lesson);
  return kept != nullptr && kept->finished == 0 && kept->steps == steps ? kept->step : 1;
}

FirstAnswers first_answers(const std::vector<LessonAnswer>& answers, const std::string& lesson) {
  std::map<int, bool> first;
  for (const LessonAnswer& answer : answers) {
    if (answer.lesson == lesson) first.emplace(answer.step, answer.right);
  }
  FirstAnswers sum{0, static_cast<int>(first.size())};
  for (const auto& [step, right] : first) sum.right += right ? 1 : 0;
  return sum;
}

std::string progress_words(const LessonProgress* progress, const FirstAnswers& answers, int questions) {
  if (progress == nullptr) return "";
  if (progress->finished == 0) return fmt::format("at {} of {}", progress->step, progress->steps);
  return questions > 0 ? fmt::format("done, {} of {} right", answers.right, questions) : "done";
}

}  // namespace shardlab
