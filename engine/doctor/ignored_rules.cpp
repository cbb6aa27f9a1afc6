#include "engine/doctor/ignored_rules.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/scenario/source.h"

namespace shardlab {
namespace {

std::string_view without_spaces_around(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// "E-16, A-05" of "ignore E-16, A-05"; nothing where the comment says something else.
std::optional<std::vector<std::string_view>> ignored_names(std::string_view text) {
  constexpr std::string_view k_ignore = "ignore ";
  if (!text.starts_with(k_ignore)) return std::nullopt;
  text.remove_prefix(k_ignore.size());
  std::vector<std::string_view> names;
  while (true) {
    const std::size_t comma = text.find(',');
    names.push_back(without_spaces_around(text.substr(0, comma)));
    if (comma == std::string_view::npos) return names;
    text.remove_prefix(comma + 1);
  }
}

const Rule* rule_called(std::string_view name, const std::vector<Rule>& rules) {
  const std::string wanted = in_lower_case(name);
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) {
    return in_lower_case(rule.id) == wanted ||
           std::any_of(rule.codes.begin(), rule.codes.end(),
                       [&](std::string_view code) { return in_lower_case(code) == wanted; });
  });
  return found == rules.end() ? nullptr : &*found;
}

// A section's comment is about its keys too.
bool is_at(const Finding& finding, const std::string& key) {
  return std::any_of(finding.evidence.begin(), finding.evidence.end(), [&](const Evidence& seen) {
    return seen.key == key || seen.key.starts_with(key + ".");
  });
}

}  // namespace

IgnoredRules::IgnoredRules(const std::vector<std::string>& asked, const Case& facts,
                           const std::vector<Rule>& rules) {
  for (const std::string& name : asked) {
    if (const Rule* rule = rule_called(name, rules)) everywhere_.push_back(rule);
  }
  if (facts.job == nullptr || facts.job->source == nullptr) return;
  const ScenarioSource& source = *facts.job->source;
  for (const DoctorComment& comment : source.comments()) take_comment(comment, source.file(), rules);
}

void IgnoredRules::take_comment(const DoctorComment& comment, const std::string& file,
                                const std::vector<Rule>& rules) {
  const auto complain = [&](const std::string& what) {
    note_ += fmt::format("{}{} line {}: {}.", note_.empty() ? "" : " ", file, comment.line, what);
  };
  const auto names = ignored_names(comment.text);
  if (!names) return complain("a comment to the doctor says `doctor: ignore RULE, RULE`");
  if (!comment.key) return complain("the comment stands at no key, and not above all of them");
  for (const std::string_view name : *names) {
    const Rule* rule = rule_called(name, rules);
    if (rule == nullptr)
      complain(fmt::format("no rule or code is called '{:.40}'; `shardlab doctor --rules` lists them", name));
    else if (comment.key->empty())
      everywhere_.push_back(rule);
    else
      at_keys_.push_back({rule, *comment.key, comment.line});
  }
}

bool IgnoredRules::has(const Rule& rule) const {
  return std::find(everywhere_.begin(), everywhere_.end(), &rule) != everywhere_.end();
}

std::string IgnoredRules::take_out(const Rule& rule, std::vector<Finding>& findings) const {
  std::string why;
  for (const AtKey& ignored : at_keys_) {
    if (ignored.rule != &rule) continue;
    const auto taken =
        std::erase_if(findings, [&](const Finding& finding) { return is_at(finding, ignored.key); });
    if (taken > 0) why = fmt::format("is ignored at {}, line {}", ignored.key, ignored.line);
  }
  return findings.empty() ? why : "";
}

}  // namespace shardlab
