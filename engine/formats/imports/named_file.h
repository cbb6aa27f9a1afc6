// Where a file lies that another names.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// Where the tool looks, which is the working directory; else, with a warning, beside the file that names it,
// or in a folder above that one, in which its authors start it: eight folders in all. Nothing: it lies
// nowhere.
std::optional<std::filesystem::path> find_named_file(const std::filesystem::path& wanted,
                                                     const ForeignValue& name, ImportReading& reading);

}  // namespace shardlab
