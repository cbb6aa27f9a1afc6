// Files that are about to be written, beside those of their names that stand on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "simulator/exports/made_export.h"

namespace shardlab::view {

struct DiffLine {
  enum class Kind : std::uint8_t {
    kept,
    removed,   // stands on disk alone
    added,     // would be new
    left_out,  // several that are kept
  };
  Kind kind = Kind::kept;
  std::string text;  // printable
};

struct StandingFile {
  std::string name;
  std::vector<std::string> lines;       // of the new file, printable
  std::optional<std::string> standing;  // what stands on disk; absent: nothing, or what cannot be read
  std::optional<Error> trouble;         // why it cannot be read
  std::vector<DiffLine> difference;     // empty where nothing stands, and where it is the same
  std::size_t added = 0, removed = 0;   // lines
};

// One for each file of the export. For a thread: files are read.
std::vector<StandingFile> look_at_standing(const std::vector<ExportedFile>& files,
                                           const std::filesystem::path& folder);

// "is not there yet", "stands there already, the same", "another one stands there: 2 lines would go, 3 ...".
std::string standing_words(const StandingFile& file);

// Writes the export into the folder in place of what was looked at. bad_input for a file that is another one
// by now; then nothing is written. Further errors: those of write_exports().
Status write_over_standing(const MadeExport& made, const std::filesystem::path& folder,
                           const std::vector<StandingFile>& looked_at);

}  // namespace shardlab::view
