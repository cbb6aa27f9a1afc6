// What the files of a case call the model that is trained.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/imports/import_case.h"

namespace shardlab {

// The program's argument that names it (`model_name_or_path`, `base_model`), also where the files have
// mistakes; nothing where none does, or where a variable says it.
std::optional<ForeignEntry> named_model(std::span<const std::filesystem::path> files,
                                        const ImportContext& context);

}  // namespace shardlab
