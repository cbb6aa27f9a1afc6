// Where the program finds the files it ships with.
#pragma once

#include <filesystem>
#include <string_view>

#include "engine/base/result.h"

namespace shardlab {

// A file or folder below assets/, for example "hardware/h100-sxm.yaml". Looks in $SHARDLAB_ASSETS alone when
// that is set, else in ../share/shardlab/assets beside the program's own folder (an installation, wherever it
// was moved), else in the source tree the program was built from. Fails with bad_input for a path that leaves
// assets/, with not_possible (naming the places it looked in) when there is no such file.
Result<std::filesystem::path> find_asset(std::string_view relative);

// The same for scenarios/, which lies beside assets/ in every layout.
Result<std::filesystem::path> find_scenario(std::string_view relative);

// The folder of the running program: its sister programs (shardlab-rank) lie there. Empty when unknown.
std::filesystem::path program_folder();

}  // namespace shardlab
