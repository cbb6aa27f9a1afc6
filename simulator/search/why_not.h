// Why a configuration is not the answer: refused, not dividing the batch, missing a need, or slower.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "simulator/search/candidate.h"
#include "simulator/search/evaluate.h"

namespace shardlab {

struct WhyNot {
  std::vector<std::string> settings;  // that were asked for ...
  std::string upon;                   // ... on top of what, in words
  std::string other_batch;            // where they do not keep the global batch: how many sequences instead
  std::string impossible;             // why it cannot be; then nothing else is known
  std::optional<Candidate> asked, answer;
  std::optional<RunSummary> asked_run, answer_run;
};

// "a=1,b=[2, 3]" at the commas between settings. Errors: bad_input at --why for what is no key=value.
Result<std::vector<std::string>> split_settings(const std::string& text);

// `answer` is what the settings are laid upon and compared with.
Result<WhyNot> why_not(const SearchSpace& space, Evaluator& evaluator, const Candidate& answer,
                       const std::vector<std::string>& settings);

}  // namespace shardlab
