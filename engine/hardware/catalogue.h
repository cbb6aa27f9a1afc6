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

// Names of assets/hardware beside the names that drivers give their devices.

// Whether a device that its driver calls `reported` ("NVIDIA H100 80GB HBM3") may be the GPU `name`
// ("H100-SXM"): the name's part before the first dash is a word of it, or two words side by side ("GeForce
// RTX 4090").
bool is_device_called(std::string_view name, std::string_view reported);

}  // namespace shardlab
