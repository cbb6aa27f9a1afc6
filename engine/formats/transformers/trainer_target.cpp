#include "engine/formats/transformers/trainer_target.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/formats/accelerate/fsdp_rules.h"
#include "engine/formats/deepspeed/deepspeed_target.h"
#include "engine/formats/tools/program_rules.h"
#include "engine/formats/transformers/trainer_rules.h"

namespace shardlab {

ExportTarget trainer_target(const std::vector<ToolTable>& tables, std::span<const SettingRule> own) {
  ExportTarget target{};
  target.refuses = refused_by_trainer;
  target.keys = tables;
  target.keys.push_back({deepspeed_keys(), by_deepspeed});
  target.rules = {own,
                  trainer_rules(),
                  fsdp_sharding_rules(),
                  fsdp_precision_rules(),
                  program_rules(),
                  launched_rules(),
                  unspoken_rules()};
  target.is_trainer = true;
  return target;
}

std::vector<ExportedFile> trainer_files(const ExportSubject& subject, const std::vector<ToolTable>& tables,
                                        std::string_view ending) {
  const ToolValue tree = tool_tree(tables, subject);
  std::vector<ExportedFile> files{{fmt::format("{}.{}.json", subject.stem, ending), tree.dump(2) + "\n"}};
  if (by_deepspeed(subject)) files.push_back(deepspeed_file(subject));
  return files;
}

}  // namespace shardlab
