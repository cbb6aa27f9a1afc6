#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "engine/doctor/registry.h"
#include "engine/doctor/report/rules_report.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string_view> needs_of(const Rule& rule, bool checked) {
  std::vector<std::string_view> words;
  for (const Need need : rule.needs) {
    if (is_checked(rule, need) == checked) words.push_back(to_string(need));
  }
  return words;
}

std::string section(std::string_view title, std::string_view text) {
  return text.empty() ? "" : fmt::format("  {:<10} {}\n", title, text);
}

std::string indented(std::string_view text) {
  std::string out = "    ";
  for (const char c : text) out += c == '\n' ? "\n    " : std::string(1, c);
  return out + "\n";
}

}  // namespace

std::string checked_in(const Rule& rule) {
  if (is_advice(rule)) return "advice";
  if (!is_checked(rule)) return "not checked yet";
  return fmt::format("{}", fmt::join(needs_of(rule, true), ", "));
}

std::string rules_text() {
  std::string text;
  std::size_t longest = 0, checked = 0;
  for (const Rule& rule : all_rules()) {
    longest = std::max(longest, rule.id.size());
    checked += is_checked(rule);
  }
  for (const Rule& rule : all_rules())
    text += fmt::format("{:<{}}  {:<8} {:<22} {}  [{}]\n", rule.id, longest, to_string(rule.severity),
                        fmt::format("{}", fmt::join(rule.codes, " ")), rule.title, checked_in(rule));
  return text +
         fmt::format("\n{} rules, {} of them checked; `shardlab doctor --explain RULE` says more of one\n",
                     all_rules().size(), checked);
}

std::string rule_text(const Rule& rule) {
  std::string text = fmt::format("{}: {}\n", rule.id, rule.title);
  text += section("codes", fmt::format("{}", fmt::join(rule.codes, " ")));
  text += section("severity", to_string(rule.severity));
  text += section("seen in", checked_in(rule));
  if (is_checked(rule))
    text += section("not yet in", fmt::format("{}", fmt::join(needs_of(rule, false), ", ")));
  text += section("when", rule.threshold);
  text += section("source", rule.source);
  text += section("says", rule.message);
  text += section("why", rule.explanation);
  text += section("fix", rule.fix.text);
  text += section("set", fmt::format("{}", fmt::join(rule.fix.set, " ")));
  return text + "  example\n" + indented(rule.example);
}

Json rule_json(const Rule& rule) {
  return {{"id", rule.id},
          {"codes", rule.codes},
          {"title", rule.title},
          {"severity", to_string(rule.severity)},
          {"needs", needs_of(rule, true)},
          {"not_yet", needs_of(rule, false)},
          {"checked", is_checked(rule)},
          {"threshold", rule.threshold},
          {"source", rule.source},
          {"message", rule.message},
          {"explanation", rule.explanation},
          {"fix", {{"kind", to_string(rule.fix.kind)}, {"set", rule.fix.set}, {"text", rule.fix.text}}},
          {"example", rule.example}};
}

Json rules_json() {
  Json rules = Json::array();
  for (const Rule& rule : all_rules()) rules.push_back(rule_json(rule));
  return {{"rules", std::move(rules)}};
}

}  // namespace shardlab
