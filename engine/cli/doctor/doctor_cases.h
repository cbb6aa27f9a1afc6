// Targets of `shardlab doctor` that belong together, examined.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/cli/command_options.h"
#include "engine/cli/doctor/case_beside.h"
#include "engine/cli/doctor/doctor_job.h"
#include "engine/doctor/examine.h"

namespace shardlab {

struct CaseRequest {
  std::vector<std::string> scenarios, runs;
  std::vector<std::string> files;  // of other tools: one case
  std::vector<std::string> logs;
  std::vector<std::string> flight;                      // dumps of one job's ranks, or their folder: one case
  std::vector<std::string> programs;                    // sources of one program
  const std::vector<MachineFacts>* machines = nullptr;  // of one job; the caller keeps them
  std::string onto;  // a scenario that says what the files do not; empty: none
  std::vector<std::string> ignored;
};

// Which target is what; `as` is the word of a DoctorTarget for all of them, empty where their content says
// it.
Result<CaseRequest> sort_targets(const std::vector<std::string>& targets, const std::string& as);

// A log, dumps, machines and a program beside the only scenario, run or set of files are a case with it, and
// so is a log beside dumps, machines or a program; else each target is one of its own.
Result<std::vector<Examination>> examine_cases(CaseRequest request, const CommonOptions& options);

// The job of the only scenario, run or set of files: what `--fix` changes. Errors: those of reading, and
// bad_input where there is more than one, or none that can be planned.
Result<DoctorJob> job_to_fix(const CaseRequest& request, const CommonOptions& options);

// What stands beside that job. Errors: those of reading, and bad_input for a second log.
Result<CaseBeside> beside_to_fix(const CaseRequest& request);

}  // namespace shardlab
