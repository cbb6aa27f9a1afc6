// What a few commands print, which scripts write into their words: no program is run for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/formats/launchers/shell_input.h"

namespace shardlab {

// That is known of `expr` on whole numbers that the script says; of `pwd`, the folder in which the script is
// started: "."; of `dirname` of the script itself, also where a `cd` to it stands before `pwd`. Nothing for
// all else.
std::optional<std::string> printed(const ShellInput& input, std::string_view command);

}  // namespace shardlab
