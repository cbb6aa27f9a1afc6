// Several settings made in the text of a scenario at once.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace shardlab {

// `settings` as for --set. The text keeps what they do not touch, its comments too (yaml_edit.h). `file_name`
// stands for it in messages, and its folder is where relative paths begin. Errors: what the rest of the
// scenario does not allow.
Result<std::string> apply_settings(std::string_view text, std::string_view file_name,
                                   std::span<const std::string> settings);

}  // namespace shardlab
