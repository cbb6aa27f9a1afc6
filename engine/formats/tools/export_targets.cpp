#include <algorithm>

#include <fmt/format.h>

#include "engine/formats/accelerate/accelerate_target.h"
#include "engine/formats/deepspeed/deepspeed_target.h"
#include "engine/formats/launchers/launcher_targets.h"
#include "engine/formats/script/script_target.h"
#include "engine/formats/tools/export_target.h"
#include "engine/formats/transformers/transformers_target.h"
#include "engine/formats/transformers_4/transformers_4_target.h"

namespace shardlab {

std::span<const ExportTarget> export_targets() {
  static const std::vector<ExportTarget> targets{
      accelerate_target(), deepspeed_target(), transformers_target(), transformers_4_target(),
      torchrun_target(),   slurm_target(),     script_target()};
  return targets;
}

const ExportTarget* find_export_target(std::string_view name) {
  const std::span<const ExportTarget> targets = export_targets();
  const auto found =
      std::find_if(targets.begin(), targets.end(), [&](const ExportTarget& t) { return t.name == name; });
  return found == targets.end() ? nullptr : &*found;
}

std::string words_of(const ExportTarget& target) {
  const bool is_own = target.version.front() >= '0' && target.version.front() <= '9';
  return fmt::format("{} {}{}", target.name, is_own ? "" : "with ", target.version);
}

}  // namespace shardlab
