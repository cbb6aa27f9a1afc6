// Readers that want a file get one in memory, or nearly: in a folder of this process alone.
#pragma once

#include <filesystem>
#include <string_view>

namespace shardlab::fuzz {

// The folder; made at the first call and removed when the program ends. In /dev/shm where there is one and
// $TMPDIR says nothing else.
const std::filesystem::path& scratch_folder();

// A file of this name in it that holds these bytes and nothing of an earlier one.
std::filesystem::path scratch_file(std::string_view name, std::string_view bytes);

}  // namespace shardlab::fuzz
