// Files of other tools as the doctor looks at them: their mistakes, and the job that they describe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/cli/command_options.h"
#include "engine/cli/doctor/doctor_job.h"
#include "engine/doctor/files/tool_files.h"

namespace shardlab {

struct DoctorFiles {
  std::string name;  // of the first file
  ToolFiles files;
  std::optional<DoctorJob> job;  // absent where they cannot be planned; `files` says why
};

// Files of one training, read as `shardlab import` reads them and never executed. `onto`: a scenario that
// says what they do not, or empty; so do the overrides of the options. Errors are about those two alone.
Result<DoctorFiles> read_doctor_files(const std::vector<std::string>& files, const std::string& onto,
                                      const CommonOptions& options);

}  // namespace shardlab
