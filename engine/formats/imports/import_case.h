// Files of other tools that belong together, read as the settings of one scenario.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/formats/imports/foreign_file.h"
#include "engine/formats/tools/import_subject.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// What the files do not say themselves.
struct ImportContext {
  const Scenario* onto = nullptr;           // null: there is none
  std::optional<std::int64_t> hidden_size;  // of the model, where it is known
  std::string layer_class;                  // likewise
  std::string model_class;                  // likewise: of the whole model
  std::optional<std::int64_t> ranks{};      // of a cluster that is said without a scenario
};

// What was read until a mistake ended it.
struct CaseReading {
  ImportReading reading;
  std::optional<Error> error;  // all mistakes that were found until then, with their places
};

// Reads the files and those that they name, as the tools find them: relative to the working directory. Errors
// are bad_input, with all mistakes that were found and their places.
Result<ImportReading> import_files(std::span<const std::filesystem::path> files,
                                   const ImportContext& context);

// The same, for whoever wants what was read beside the mistakes.
CaseReading examine_files(std::span<const std::filesystem::path> files, const ImportContext& context);

// The same as import_files() of files that were read.
Result<ImportReading> import_case(std::vector<ForeignFile> files, const ImportContext& context);

}  // namespace shardlab
