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

}  // namespace shardlab
