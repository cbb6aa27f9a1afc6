// A file of another tool: its text, and which tool's it is by what it says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/words.h"
#include "engine/formats/foreign/check_keys.h"
#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/foreign/relaxed_json.h"

namespace shardlab {

enum class ForeignKind : std::uint8_t { deepspeed, accelerate, trainer, axolotl, fsdp_section, script };
template <>
inline constexpr auto k_words<ForeignKind> =
    std::to_array<Word<ForeignKind>>({{ForeignKind::deepspeed, "DeepSpeed's configuration"},
                                      {ForeignKind::accelerate, "accelerate's configuration"},
                                      {ForeignKind::trainer, "TrainingArguments"},
                                      {ForeignKind::axolotl, "Axolotl's configuration"},
                                      {ForeignKind::fsdp_section, "an fsdp_config of TrainingArguments"},
                                      {ForeignKind::script, "a launch script"}});

struct ForeignFile {
  std::filesystem::path path;
  ForeignKind kind = ForeignKind::deepspeed;
  std::string text;
  std::optional<int> line;  // of a script: the command that is meant stands in it
  ForeignValue tree;        // empty for scripts; for TrainingArguments that stand below a key, the map there
  std::vector<ForeignWarning> warnings;
};

// Refuses what is no text of at most 256 KiB, and what is none of the kinds. Nothing is executed.
// "FILE:LINE", where there is no file of that name, is FILE with that line.
Result<ForeignFile> read_foreign_file(const std::filesystem::path& path);

// The same for a text; `name` stands for the file.
Result<ForeignFile> parse_foreign_file(std::string text, const std::filesystem::path& name);

// Whether the name ends as those of shell scripts and of Slurm's batch files do.
bool is_launch_script_name(const std::filesystem::path& name);

// Whether the file is a trace, packed or not, rather than a configuration: configurations are small texts.
bool is_profile(const std::filesystem::path& path);

}  // namespace shardlab
