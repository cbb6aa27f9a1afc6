// Files of scenarios with fixes in them.
#pragma once

#include <optional>
#include <string>

#include "engine/cli/doctor/doctor_fix.h"

namespace shardlab {

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
