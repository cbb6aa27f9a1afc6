// Applies all rules to a case.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/doctor/case.h"
#include "engine/doctor/finding.h"
#include "engine/doctor/rule.h"

namespace shardlab {

// A rule that was not applied, and why.
struct Skipped {
  std::string rule;
  std::string why;

  friend bool operator==(const Skipped&, const Skipped&) = default;
};

struct Examination {
  std::string source;             // of the case
  std::int64_t log_lines = 0;     // of its log; 0 without one
  std::vector<Finding> findings;  // ordered (order_findings.h), one of each rule at most
  std::vector<Skipped> skipped;
  std::string note = {};   // what was not looked at and how it could be; sentences, or empty
  std::int64_t known = 0;  // findings that are left out because they are known (report/known_findings.h)
};

// Tries what findings name as remedies: sets fixes and effects, lowers severities, drops what has no use.
using TryRemedies = std::function<void(std::vector<Finding>& findings)>;

// `ignored`: ids or codes of rules that are left out, beside those that comments of the job's scenario name
// (`# doctor: ignore RULE`). Without `try_remedies` nothing is tried.
Examination examine(const Case& facts, const std::vector<Rule>& rules,
                    const std::vector<std::string>& ignored = {}, const TryRemedies& try_remedies = {});

// Whether anything was found that needs to be done something about.
bool is_above_info(const Examination& examination);

}  // namespace shardlab
