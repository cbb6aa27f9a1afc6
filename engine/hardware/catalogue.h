// The folders of hardware descriptions: names, aliases, look-up.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

// What is described in assets/hardware/<folder>, sorted.
std::vector<std::string> described_names(std::string_view folder);

// The file of a name or of an alias of the same folder, in any case. `noun` is for the message: unknown
// <noun> 'x', which is bad_input.
Result<std::filesystem::path> find_description(std::string_view folder, std::string_view name,
                                               std::string_view noun);

}  // namespace shardlab
