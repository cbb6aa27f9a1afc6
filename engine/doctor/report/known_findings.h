// Findings that are known already and not to be told again: `--write-baseline` and `--baseline`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/base/result.h"
#include "engine/doctor/examine.h"

namespace shardlab {

// What makes two findings the same one, whatever their numbers and the lines they are seen in.
struct KnownFinding {
  std::string rule;
  std::string source;              // of the case: a file, "-", a run
  std::vector<std::string> shows;  // keys of the scenario in order; else the first evidence without numbers
  Severity severity = Severity::info;

  friend bool operator==(const KnownFinding&, const KnownFinding&) = default;
};

// Each finding once, in the order in which they are told.
std::vector<KnownFinding> known_findings(const std::vector<Examination>& examinations);

// Takes out what is known and no worse than it was; Examination::known counts it.
void leave_out_known(std::vector<Examination>& examinations, const std::vector<KnownFinding>& known);

nlohmann::ordered_json baseline_json(const std::vector<KnownFinding>& known);

// The text of such a file. bad_input at `file` for another.
Result<std::vector<KnownFinding>> read_baseline(std::string_view text, const std::string& file);

}  // namespace shardlab
