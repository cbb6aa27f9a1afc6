#include "engine/formats/accelerate/accelerate_target.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "engine/formats/accelerate/accelerate_keys.h"
#include "engine/formats/accelerate/accelerate_program_rules.h"
#include "engine/formats/accelerate/fsdp_rules.h"
#include "engine/formats/accelerate/fsdp_words.h"
#include "engine/formats/deepspeed/deepspeed_target.h"
#include "engine/formats/tools/comment_block.h"
#include "engine/formats/tools/program_rules.h"

namespace shardlab {
namespace {

TargetRefusal refuses(const ExportSubject& subject) {
  if (framework(subject) == Framework::shardlab)
    return {"this schedule is shardlab's own, accelerate has none like it"};
  if (is_fsdp(subject) && on_processors(subject))
    return {"accelerate 1.15 shards on accelerators alone, on processors it would train replicas",
            "cluster.device"};
  return {};
}

std::optional<std::string> gather_limit(const ExportSubject& s) {
  return !is_fsdp(s) || limits_gathers(s) ? std::optional<std::string>() : "true";
}

constexpr SettingRule k_file_rules[] = {
    {"parallel.prefetch.limit_all_gathers", k_lost, gather_limit, "the file cannot lift the limit"},
};

std::vector<ToolTable> tables() {
  return {{accelerate_keys(), nullptr},
          {accelerate_deepspeed_keys(), by_deepspeed, "deepspeed_config"},
          {accelerate_fsdp_keys(), is_fsdp, "fsdp_config"}};
}

std::vector<ExportedFile> write(const ExportSubject& subject, std::span<const std::string> head) {
  const ToolValue tree = tool_tree(tables(), subject);
  std::vector<ExportedFile> files{{subject.stem + ".accelerate.yaml", comment_block(head) + tool_yaml(tree)}};
  if (by_deepspeed(subject)) files.push_back(deepspeed_file(subject));
  return files;
}

}  // namespace

ExportTarget accelerate_target() {
  std::vector<ToolTable> keys = tables();
  keys.push_back({deepspeed_keys(), by_deepspeed});
  return {"accelerate",
          "1.15",
          "the configuration file of `accelerate launch`",
          refuses,
          std::move(keys),
          {k_file_rules, fsdp_sharding_rules(), fsdp_precision_rules(), replicated_program_rules(),
           accelerate_program_rules(), program_rules(), unspoken_rules()},
          write};
}

}  // namespace shardlab
