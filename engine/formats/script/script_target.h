// A scenario as a training program in Python.
#pragma once

#include "engine/formats/tools/export_target.h"

namespace shardlab {

// Of version torch 2.11. One file, NAME.train.py, which any launcher starts.
ExportTarget script_target();

}  // namespace shardlab
