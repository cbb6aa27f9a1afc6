// Files of /proc and /sys, whose size is not known before they are read. Private to this folder.
#pragma once

#include <filesystem>
#include <string>

namespace shardlab {

// The first mebibyte; empty where it cannot be read.
std::string kernel_file(const std::filesystem::path& file);

}  // namespace shardlab
