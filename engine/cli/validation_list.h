// Several scenarios validated by one command: what each came to, a failed run included.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/cli/doctor/failed_run.h"
#include "engine/cli/validation.h"
#include "engine/report/terminal.h"

namespace shardlab {

struct ValidatedScenario {
  std::string name;
  Result<Validation> result;
  std::optional<Diagnosis> diagnosis = {};  // of a run that failed
};

// Where nobody gave a tolerance there is nothing that was not met; a run that failed has not passed.
Verdict verdict_over(const std::vector<ValidatedScenario>& all);

// The command's: of the first run that failed, else of the verdict.
int exit_code_of(const std::vector<ValidatedScenario>& all);

// Step time and peak memory of each, predicted and measured, with the error of the prediction; why a run
// failed.
std::string validations_table(const std::vector<ValidatedScenario>& all, const TextStyle& style);

// The document of docs/json.md: that of the one, or a list.
Json validations_json(const std::vector<ValidatedScenario>& all);

}  // namespace shardlab
