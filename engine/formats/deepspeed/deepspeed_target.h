// DeepSpeed's configuration file.
//
// Source: DeepSpeed 0.19.8, runtime/config.py, runtime/zero/config.py, runtime/zero/offload_config.py,
// runtime/precision_config.py.
#pragma once

#include <span>

#include "engine/formats/tools/export_target.h"

namespace shardlab {

ExportTarget deepspeed_target();

std::span<const ToolKey> deepspeed_keys();

// "NAME.deepspeed.json".
ExportedFile deepspeed_file(const ExportSubject& subject);

}  // namespace shardlab
