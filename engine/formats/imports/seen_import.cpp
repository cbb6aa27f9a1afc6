#include "engine/formats/imports/seen_import.h"

#include <utility>

#include <fmt/format.h>

#include "engine/base/yaml.h"

namespace shardlab {

Result<ImportReading> reading_of(const SeenPlan& plan, const std::string& file) {
  ImportReading reading;
  reading.formats.push_back({"torch.profiler", "", file});
  for (const SeenSetting& each : plan.settings) {
    ImportedSetting setting;
    setting.key = each.key;
    SHARDLAB_TRY(setting.value, parse_yaml(each.value, file, true));
    setting.value.place = in_file(file);
    setting.origin =
        each.sure == Sureness::guessed ? ImportedSetting::Origin::guessed : ImportedSetting::Origin::seen;
    setting.note =
        each.sure == Sureness::guessed ? each.why : fmt::format("{}: {}", to_string(each.sure), each.why);
    reading.set(std::move(setting));
  }
  return reading;
}

}  // namespace shardlab
