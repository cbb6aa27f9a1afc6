// Reads a dump of torch's flight recorder: a pickle, read as data and never executed, or JSON.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/doctor/flight/flight_dump.h"

namespace shardlab {

// Whether a file that begins so may be a dump: a pickle, or JSON that has a dump's keys in its beginning.
bool may_be_flight_dump(std::string_view begin);

// The rank is the number at the end of the file's name (nccl_trace_rank_12, dump_3.json); when the file was
// written is for the caller to say. Errors are bad_input, with the file as their place: another pickle or
// JSON, a damaged one, a name without a rank.
Result<FlightDump> read_flight_dump(std::string bytes, const std::string& file);

}  // namespace shardlab
