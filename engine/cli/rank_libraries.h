// Whether the ranks' program finds its libraries, and which libtorch it takes: a program that was installed
// may stand on a machine where libtorch lies elsewhere than where it was linked.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

// The version of torch whose libtorch the ranks are made for: "2.11.0".
std::string_view torch_version();

// With $SHARDLAB_TORCH_DIR (the folder of the Python package torch) sets $LD_LIBRARY_PATH of this process,
// which the ranks inherit, so that they load the libtorch in it; without that variable does nothing. Not to
// be called while other threads read the environment. bad_input when there is no libtorch in the folder or
// not the version that this program was made for.
Status take_libtorch_of_environment();

// The folders that $LD_LIBRARY_PATH must begin with for the libtorch of `torch`, separated by colons.
std::string library_path_of(const std::filesystem::path& torch);

// The shared libraries that the system's loader does not find for the program, in its order; empty when it
// finds all. Asks the loader, which runs nothing of the program. not_possible when it cannot be asked.
Result<std::vector<std::string>> missing_libraries(const std::filesystem::path& program);

// The names in the loader's answer (what ldd prints) that it did not find.
std::vector<std::string> not_found_in(std::string_view answer);

}  // namespace shardlab
