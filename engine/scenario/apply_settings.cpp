#include "engine/scenario/apply_settings.h"

#include "engine/scenario/read_scenario.h"
#include "engine/scenario/yaml_edit.h"

namespace shardlab {

Result<std::string> apply_settings(std::string_view text, std::string_view file_name,
                                   std::span<const std::string> settings) {
  std::string edited(text);
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) return bad_input(setting, "is no setting", "key=value");
    SHARDLAB_TRY(edited, set_yaml_value(edited, setting.substr(0, equals), setting.substr(equals + 1)));
  }
  SHARDLAB_CHECK_OK(parse_scenario(edited, file_name));
  return edited;
}

}  // namespace shardlab
