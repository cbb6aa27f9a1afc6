// What was found, for people and for programs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/doctor/examine.h"

namespace shardlab {

// Three lines a finding: what is the matter, what shows it, what to do; then a line that counts. What is only
// worth knowing is counted, and shown with `all` or where there is nothing else.
std::string findings_text(const std::vector<Examination>& examinations, bool all);

// " on rank 3", " on ranks 0, 2 and 5", " on 64 ranks (0, 1, 2, ...)"; the rank of the line that shows it
// where nothing more is known, and nothing where not even that is.
std::string on_ranks(const Finding& finding);

// `{findings: [...], skipped: [...]}`: docs/json.md. A rule is skipped that no target could be checked for.
nlohmann::ordered_json findings_json(const std::vector<Examination>& examinations);

// A finding that no setting of the scenario mends: "a command, no setting of a scenario".
struct LeftFinding {
  Finding finding;
  std::string why;
};

// A scenario that was written with fixes.
struct FixReport {
  std::string file;
  std::vector<std::string> set;    // settings, in the order in which they were applied
  std::vector<std::string> rules;  // whose fixes they are
  Effect effect;                   // of all together
  std::string log = {};            // that stood beside the scenario; empty: none
  std::vector<LeftFinding> left = {};
};
std::string fix_text(const FixReport& report);
nlohmann::ordered_json fix_json(const FixReport& report);

// A file with the fix of a finding in it.
struct FixedFile {
  std::string file;
  std::string before, after;  // its text
};
using FixedFileOf =
    std::function<std::optional<FixedFile>(const Examination& examination, const Finding& finding)>;

// SARIF 2.1.0 (OASIS), one run: what editors and code hosts read. What `fixed` gives for a finding is its
// fix, as the lines that change.
nlohmann::ordered_json findings_sarif(const std::vector<Examination>& examinations,
                                      const FixedFileOf& fixed = {});

}  // namespace shardlab
