// A rule: what can be wrong with a training job, how it is recognised, and what to do.
//
// Rules are constant values, one small file for one cause in engine/doctor/rules/<topic>, and a line of
// rules/rule_list.h for each file.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/words.h"
#include "engine/doctor/files/file_sign.h"
#include "engine/doctor/finding.h"
#include "engine/doctor/log/log_sign.h"

namespace shardlab {

struct Case;
struct Rule;

// What must be at hand to check a rule.
// `files` are those of other tools, `flight` dumps of torch's flight recorder, `program` is Python's source.
enum class Need : std::uint8_t {
  configuration,
  files,
  plan,
  prediction,
  measurement,
  environment,
  log,
  flight,
  program
};
template <>
inline constexpr auto k_words<Need> = std::to_array<Word<Need>>({{Need::configuration, "configuration"},
                                                                 {Need::files, "files"},
                                                                 {Need::plan, "plan"},
                                                                 {Need::prediction, "prediction"},
                                                                 {Need::measurement, "measurement"},
                                                                 {Need::environment, "environment"},
                                                                 {Need::log, "log"},
                                                                 {Need::flight, "flight"},
                                                                 {Need::program, "program"}});

// A pure function: the same case, the same findings; none where nothing is wrong. It is called only where all
// its needs are at hand.
using CheckFunction = std::vector<Finding> (*)(const Rule& rule, const Case& facts);

// One way of checking a rule. A rule may have several: from the configuration before the job, from its log
// after it.
struct RuleCheck {
  std::vector<Need> needs;
  CheckFunction run = nullptr;
};

struct Rule {
  std::string_view id;                  // "topic/words"; never changes
  std::vector<std::string_view> codes;  // "A-04"; a code never changes and belongs to one rule
  std::string_view title;               // a few words
  Severity severity = Severity::warning;
  std::vector<Need> needs;          // all that it can be read from, whether that is built yet or not
  std::string_view threshold = {};  // the condition with its numbers; empty where there are none
  std::string_view source;          // of threshold and mechanism
  std::string_view message;         // what is the matter, a sentence; a check may say it with numbers
  std::string_view explanation;     // why, and what else is known
  Fix fix;
  std::string_view example;           // what triggers it: lines of a log, or settings
  std::vector<LogSign> signs = {};    // lines of a log that show it; checked without a function of its own
  std::vector<FileSign> faults = {};  // mistakes in files of other tools; likewise
  std::vector<RuleCheck> checks = {};
};

// Whether anything looks for it in what `need` gives.
bool is_checked(const Rule& rule, Need need);
// Whether anything looks for it at all. Habits and commands, which nothing can look for, need nothing.
bool is_checked(const Rule& rule);
bool is_advice(const Rule& rule);

// A finding of the rule with all that the rule itself says; evidence and numbers are for the caller to add.
Finding finding_of(const Rule& rule);

}  // namespace shardlab
