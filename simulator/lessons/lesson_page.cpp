#include "simulator/lessons/lesson_page.h"

#include <fmt/format.h>

#include "engine/lessons/judge_answer.h"
#include "engine/lessons/markdown.h"
#include "engine/lessons/mistake_source.h"
#include "simulator/lessons/draw_look.h"
#include "simulator/lessons/page_frame.h"
#include "simulator/lessons/walked_lesson.h"

namespace shardlab::lessons {
namespace {

std::string source_html(const std::string& source) {
  const MistakeSource read = mistake_source(source);
  if (read.address.empty()) return escaped_html(read.title);
  return fmt::format("<a href=\"{}\">{}</a>", escaped_html(read.address), escaped_html(read.title));
}

std::string mistake_html(const WorkedMistake& mistake) {
  return fmt::format("<div class=wrong>{}<p class=source>Seen in {}</p></div>",
                     markdown_as_html(mistake.thought), source_html(mistake.source));
}

std::string right_html(const std::string& answer) {
  return "<div class=right>" + markdown_as_html("**That is right.** " + answer) + "</div>";
}

// An answer that opens when it is chosen.
std::string answer_html(const std::string& answer, const std::string& inside) {
  return fmt::format(
      "<details><summary>{}</summary>{}</details>\n",
      escaped_html(
          plain_text(parse_markdown(answer).empty() ? MarkdownLine() : parse_markdown(answer).front().line)),
      inside);
}

struct QuestionPage {
  const WorkedAsk& ask;

  std::string operator()(const WorkedChoose& choose) const {
    std::string html;
    for (const WorkedOption& option : choose.options)
      html += answer_html(option.answer, option.right ? right_html("") : mistake_html(option.mistake));
    return html;
  }

  std::string operator()(const WorkedOrder& order) const {
    std::string html = "<ul>\n";
    for (const std::string& item : order.items) html += "<li>" + escaped_html(item) + "</li>\n";
    html += "</ul>\n<p class=hint>The first or the smallest comes first.</p>\n";
    html += answer_html("the right order", right_html(right_answer_words(ask)));
    for (const WorkedOrder::Wrong& wrong : order.wrong) {
      std::string said;
      for (const int number : wrong.order)
        said += (said.empty() ? "" : "; ") + order.items[static_cast<std::size_t>(number - 1)];
      html += answer_html("You thought: " + said, mistake_html(wrong.mistake));
    }
    return html;
  }

  std::string operator()(const WorkedNumber& number) const {
    std::string html = "<p class=hint>Write your number down before you look.</p>\n";
    html += answer_html("the number", right_html(right_answer_words(ask)));
    for (const WorkedNumber::Wrong& wrong : number.wrong)
      html += answer_html("You thought: " + shown(wrong.value).value_or(""), mistake_html(wrong.mistake));
    return html;
  }

  std::string operator()(const WorkedInstruction& pick) const {
    std::string html = answer_html("the instruction", right_html(pick.right));
    for (const WorkedInstruction::Wrong& wrong : pick.wrong)
      html += answer_html("You thought: " + wrong.label, mistake_html(wrong.mistake));
    return html;
  }

  std::string operator()(const WorkedChange& change) const {
    std::string html = fmt::format("<p class=hint>You may change {}.</p>\n",
                                   escaped_html(fmt::format("{}", fmt::join(change.keys, ", "))));
    html += answer_html("what does it", right_html(right_answer_words(ask)));
    for (const WorkedChange::Wrong& wrong : change.wrong)
      html += answer_html(fmt::format("You thought: {}", fmt::join(wrong.settings, " ")),
                          mistake_html(wrong.mistake));
    return html;
  }
};

Result<std::string> step_html(const WalkedStep& step, const LessonSubjects& subjects) {
  const std::string text = markdown_as_html(step.text);
  switch (step.kind) {
    case StepKind::text: return text;
    case StepKind::look: {
      SHARDLAB_TRY(const std::string picture, look_html(*step.look, subjects));
      return fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n", picture, text);
    }
    case StepKind::ask:
      return fmt::format("<section class=ask>\n<h3>What do you think?</h3>\n{}{}</section>\n", text,
                         std::visit(QuestionPage{step.ask}, step.ask.kind));
    case StepKind::reveal:
      return fmt::format("<details class=reveal><summary>What happens</summary>\n{}</details>\n", text);
    case StepKind::run:
      return fmt::format(
          "<section class=run>\n<h3>Run it</h3>\n{}<pre>shardlab validate {}</pre>\n</section>\n", text,
          escaped_html(subjects.lesson().find_scenario(step.run->scenario)->file));
    case StepKind::free: {
      SHARDLAB_TRY(const PredictedSubject* before, subjects.predicted(step.free->scenario));
      SHARDLAB_TRY(const PredictedSubject* after,
                   subjects.predicted_with(step.free->scenario, step.free->settings));
      return fmt::format(
          "<section class=run>\n<h3>Try it</h3>\n{}<p><code>{}</code></p>\n<pre>{}</pre>\n</section>\n", text,
          escaped_html(fmt::format("{}", fmt::join(step.free->settings, " "))),
          escaped_html(compared_text({{"before", before}, {"changed", after}}, {100, false})));
    }
  }
  return text;
}

// `alone`: the page's own title is the lesson's.
Result<std::string> lesson_html(const LessonSubjects& subjects, bool alone) {
  const Lesson& lesson = subjects.lesson();
  const std::string heading = alone ? "" : fmt::format("<h2>{}</h2>\n", escaped_html(lesson.title));
  std::string html =
      fmt::format("<article id=\"{}\">\n{}<p class=able>Afterwards you can {}. {} minutes.</p>\n",
                  escaped_html(lesson.name), heading, escaped_html(lesson.able), lesson.minutes);
  for (const LessonStep& step : lesson.steps) {
    SHARDLAB_TRY(const WalkedStep walked, walk_step(step, subjects));
    SHARDLAB_TRY(const std::string part, step_html(walked, subjects));
    html += part;
  }
  return html + "</article>\n";
}

}  // namespace

Result<std::string> lesson_page(const std::vector<const LessonSubjects*>& subjects,
                                const std::string& title) {
  std::string body;
  if (subjects.size() > 1) {
    body += "<nav><ol>\n";
    for (const LessonSubjects* each : subjects)
      body += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escaped_html(each->lesson().name),
                          escaped_html(each->lesson().title));
    body += "</ol></nav>\n";
  }
  for (const LessonSubjects* each : subjects) {
    SHARDLAB_TRY(const std::string html, lesson_html(*each, subjects.size() == 1));
    body += html;
  }
  return page_around(title, body);
}

}  // namespace shardlab::lessons
