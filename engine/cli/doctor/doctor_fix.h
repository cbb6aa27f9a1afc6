// A scenario with the doctor's fixes applied.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/doctor/doctor_job.h"
#include "engine/doctor/report/findings_report.h"

namespace shardlab {

struct FixedJob {
  DoctorJob job;
  std::vector<std::string> applied;  // all settings, in their order
  std::vector<std::string> set;      // those that were not replaced by later ones
  std::vector<std::string> rules;    // whose fixes they are
  Examination examination;           // of what became of it, with what stands beside it
  std::vector<Evidence> mended;      // what showed the findings that were fixed
  std::vector<LeftFinding> left;     // of what stands beside it, that no setting mends
};

// Applies the settings of the first finding above info (with `wanted`: of those rules, whatever their
// severity), examines again, and so on until there is none left whose settings change anything. What a log,
// dumps or a program beside the scenario show is among the findings.
Result<FixedJob> fix_job(DoctorJob job, const BesideJob& beside, const std::vector<std::string>& wanted,
                         const std::vector<std::string>& ignored);

// Writes the scenario so that it means the same in the file's folder: as `scenario_file` with the settings in
// it, comments kept, where it came from that file alone and goes into its folder; anew otherwise, or where
// `scenario_file` is empty. bad_input for a file that exists, unless `replace`, and for one that cannot be
// written.
Status write_fixed(const FixedJob& fixed, const std::string& scenario_file, const std::string& file,
                   bool replace);

// The scenario's file with the settings of a finding's fix, its comments kept: nothing where the fix is no
// settings, or the file does not allow them.
std::optional<FixedFile> fixed_file(const std::string& file, const Finding& finding);

}  // namespace shardlab
