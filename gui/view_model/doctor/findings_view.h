// What the doctor found, as panels draw it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/doctor/examine.h"
#include "gui/view_model/loaded_run.h"

namespace shardlab::view {

// A line of evidence. A click on `link` leads to the instruction, the setting or the line of the log that it
// names; the first that there is.
struct EvidenceLine {
  std::string link;  // "backward of layer 3", "train.micro_batch: 8", "line 12, rank 3"
  std::string text;  // what was seen there, and where else that is
  std::optional<InstructionId> instruction;
  std::string setting;    // empty: none
  std::int64_t line = 0;  // of a log; 0: none

  bool leads_somewhere() const { return instruction || !setting.empty() || line > 0; }
};

// A figure before and after the fix.
struct EffectLine {
  std::string what;  // "peak"
  std::string before, after;
  std::string change;      // "-23.4 %"; empty where nothing changes
  bool is_better = false;  // where something does
};

struct FindingCard {
  Severity severity = Severity::warning;
  std::string heading;  // "warning on rank 3"
  std::string title;
  std::string rule;  // "A-09, C-02 memory/gather-does-not-fit"
  std::string message;
  std::string why;  // the rule's explanation; may be empty
  std::vector<EvidenceLine> evidence;
  std::string fix;               // a sentence
  std::vector<std::string> set;  // that goes with it: settings, or variables of the environment
  std::vector<EffectLine> effect;
  std::string verdict;     // "then it fits"; may be empty
  bool can_apply = false;  // the fix is settings, predicted to be allowed
};

// Rules that were not looked for, for one reason.
struct SkippedRules {
  std::string why;
  std::vector<std::string> rules;
};

struct FindingsView {
  std::string source;
  std::string counts;  // "1 error, 2 warnings, 3 worth knowing"; where nothing was found: by how many rules
  std::vector<FindingCard> cards;
  std::string skipped_words;  // "78 rules were skipped"; empty where none was
  std::vector<SkippedRules> skipped;
  std::string note;  // what was not looked at; may be empty
};

// The findings about a scenario; `run`, whose words instructions are told in, is the prediction that they are
// about, or null where there is none.
FindingsView scenario_findings(const Examination& examination, const LoadedRun* run);

// The findings of a log, whose lines evidence names.
FindingsView log_findings(const Examination& examination);

}  // namespace shardlab::view
