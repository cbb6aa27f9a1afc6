// What the targets of Trainer's two versions share: the JSON that HfArgumentParser.parse_json_file reads,
// with DeepSpeed's configuration beside it where DeepSpeed shards.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/formats/tools/export_target.h"

namespace shardlab {

// With keys and rules, of the version (`tables`, `own`) and of both; the caller names it and says how it is
// written.
ExportTarget trainer_target(const std::vector<ToolTable>& tables, std::span<const SettingRule> own);

// "NAME.ENDING.json", and DeepSpeed's file.
std::vector<ExportedFile> trainer_files(const ExportSubject& subject, const std::vector<ToolTable>& tables,
                                        std::string_view ending);

}  // namespace shardlab
