#include "engine/cli/lessons/lesson_list.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/csv.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

const ListedLesson* lesson_of(const LessonOverview& overview, const std::string& name) {
  const auto found = std::find_if(overview.lessons.begin(), overview.lessons.end(),
                                  [&](const ListedLesson& each) { return each.name == name; });
  return found == overview.lessons.end() ? nullptr : &*found;
}

std::string state_text(const LessonOverview& overview, const ListedLesson& listed) {
  return progress_words(progress_in(overview.progress, listed.name),
                        first_answers(overview.answers, listed.name), listed.lesson.question_count());
}

std::string utc_text(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

std::string overview_text(const LessonOverview& overview, const TextStyle& style) {
  std::string text;
  const std::string* next = nullptr;
  const std::vector<std::string> names = overview.course.lessons();
  for (const std::string& name : names) {
    const LessonProgress* const progress = progress_in(overview.progress, name);
    if (next == nullptr && (progress == nullptr || progress->finished == 0)) next = &name;
  }
  for (const lessons::CoursePart& part : overview.course.parts) {
    int minutes = 0;
    TextTable table({{"", Align::left}, {"", Align::left, true, 20}, {"", Align::right}, {"", Align::left}},
                    "  ");
    for (const std::string& name : part.lessons) {
      const ListedLesson* const listed = lesson_of(overview, name);
      if (listed == nullptr) continue;
      minutes += listed->lesson.minutes;
      const std::string state = state_text(overview, *listed);
      table.add({name.substr(0, name.find('-')),
                 listed->lesson.title,
                 fmt::format("{} min", listed->lesson.minutes),
                 {state, state.starts_with("done") ? Tone::good : Tone::plain}});
    }
    for (const lessons::ComingLesson& coming : part.coming)
      table.add({{"--", Tone::faint},
                 {coming.title, Tone::faint},
                 "",
                 {"coming: waits for " + coming.waits, Tone::faint}});
    text += fmt::format("{}{}, {} minutes. {}\n{}", text.empty() ? "" : "\n", part.title, minutes, part.about,
                        table.text(style));
  }
  if (next != nullptr)
    text += fmt::format("\n`shardlab lesson {}` begins or goes on with the next one\n",
                        next->substr(0, next->find('-')));
  return text;
}

Json overview_json(const LessonOverview& overview) {
  Json parts = Json::array();
  for (const lessons::CoursePart& part : overview.course.parts) {
    Json listed = Json::array();
    for (const std::string& name : part.lessons) {
      const ListedLesson* const found = lesson_of(overview, name);
      if (found == nullptr) continue;
      const lessons::Lesson* const lesson = &found->lesson;
      const LessonProgress* const progress = progress_in(overview.progress, name);
      const FirstAnswers answers = first_answers(overview.answers, name);
      listed.push_back({{"name", name},
                        {"title", lesson->title},
                        {"minutes", lesson->minutes},
                        {"able", lesson->able},
                        {"needs", lesson->needs},
                        {"teaches", lesson->teaches},
                        {"steps", lesson->steps.size()},
                        {"reached", progress != nullptr ? progress->step : 0},
                        {"finished", progress != nullptr && progress->finished != 0},
                        {"questions", lesson->question_count()},
                        {"answered", answers.all},
                        {"right_at_once", answers.right}});
    }
    Json coming = Json::array();
    for (const lessons::ComingLesson& each : part.coming)
      coming.push_back({{"title", each.title}, {"waits", each.waits}});
    parts.push_back({{"title", part.title}, {"lessons", listed}, {"coming", coming}});
  }
  return {{"parts", parts}};
}

std::string answers_csv(const std::vector<LessonAnswer>& answers) {
  std::string text = "time,lesson,step,answer,right\n";
  for (const LessonAnswer& each : answers)
    text += fmt::format("{},{},{},{},{}\n", utc_text(each.created), csv_field(each.lesson), each.step,
                        csv_field(each.answer), each.right ? "yes" : "no");
  return text;
}

}  // namespace shardlab
