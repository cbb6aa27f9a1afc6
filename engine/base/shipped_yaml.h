// YAML files that ship with the program: figures of hardware, residuals, tables.
//
// A process parses each of them once, because predictions ask for the same figures thousands of times. A file
// that has changed since, by its size or the time of its last write, is parsed again. Any number of threads
// may ask at once.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/base/result.h"
#include "engine/base/yaml.h"

namespace shardlab {

// The file's tree. Errors: bad_input for a file that cannot be read or is no YAML, with its place.
Result<std::shared_ptr<const YamlNode>> read_shipped_yaml(const std::filesystem::path& file);

}  // namespace shardlab
