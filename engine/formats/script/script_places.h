// Which part of a program says which setting, and what no part of it says. Private to this folder.
#pragma once

#include <span>

#include "engine/formats/tools/setting_rule.h"
#include "engine/formats/tools/tool_key.h"

namespace shardlab {

std::span<const ToolKey> script_places();
std::span<const SettingRule> script_rules();

}  // namespace shardlab
