// Numbers of cost formulas as text. Private to this folder.
#pragma once

#include <string>

#include "engine/base/units.h"
#include "simulator/cost/shape_table.h"

namespace shardlab {

std::string flops_text(double flops);
std::string bytes_text(double bytes);
std::string time_text(double nanoseconds);
std::string rate_text(FlopsPerSecond rate);
std::string rate_text(BytesPerSecond rate);

// " * 1.07 [measured shapes]", or nothing for an empty table.
std::string correction_text(const ShapeTable& table, const ShapeTable::Coordinates& shape);

}  // namespace shardlab
