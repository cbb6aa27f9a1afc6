// The keys of accelerate's configuration file.
//
// Source: accelerate 1.15.0, commands/config/config_args.py, commands/launch.py, utils/launch.py.
#pragma once

#include <span>

#include "engine/formats/tools/tool_key.h"

namespace shardlab {

// At the root; inside `fsdp_config`; inside `deepspeed_config`.
std::span<const ToolKey> accelerate_keys();
std::span<const ToolKey> accelerate_fsdp_keys();
std::span<const ToolKey> accelerate_deepspeed_keys();

// "NAME.deepspeed.json", the file that `deepspeed_config` names.
std::string deepspeed_file_name(const ExportSubject& subject);

}  // namespace shardlab
