// A scenario as a training program in Python.
#pragma once

#include "engine/formats/tools/export_target.h"

namespace shardlab {

// Writes a training program for torch 2.11: one file, NAME.train.py, which any launcher starts.
ExportTarget script_target();

}  // namespace shardlab
