// accelerate's configuration file, for `accelerate launch --config_file`.
#pragma once

#include "engine/formats/tools/export_target.h"

namespace shardlab {

ExportTarget accelerate_target();

}  // namespace shardlab
