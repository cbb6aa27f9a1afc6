// docs/rules.md, written from the registry.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/doctor/registry.h"
#include "engine/doctor/report/rules_report.h"

namespace shardlab {
namespace {

constexpr std::string_view k_introduction = R"(# Rules of the doctor

This page is generated from the rules (`engine/doctor/rules`); `shardlab doctor --document` prints it. What the doctor does is in
[doctor.md](doctor.md).

*Seen in* says where a rule is looked for today: in a log, a configuration, a prediction ... *not checked yet* is a rule that is known and that
nothing looks for so far; *advice* is a habit or a command, which nothing can look for. A rule's codes never change. Numbers that are called a
proposal have not been tuned by measurement.
)";

// A pipe would end the cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string row(const Rule& rule) {
  const std::string set = rule.fix.set.empty() ? "" : fmt::format(" (`{}`)", fmt::join(rule.fix.set, " "));
  return fmt::format("| `{}` {} | {} | {} | {} {} | {}{} |\n", rule.id, fmt::join(rule.codes, " "),
                     to_string(rule.severity), checked_in(rule), cell(rule.message), cell(rule.explanation),
                     cell(rule.fix.text), cell(set));
}

}  // namespace

std::string rules_page() {
  std::string text(k_introduction);
  std::string_view topic;
  for (const Rule& rule : all_rules()) {
    if (topic_of(rule) != topic) {
      topic = topic_of(rule);
      text += fmt::format(
          "\n## {}\n\n| Rule | Severity | Seen in | What and why | Fix |\n| --- | --- | --- | --- | --- |\n",
          topic);
    }
    text += row(rule);
  }
  return text;
}

}  // namespace shardlab
