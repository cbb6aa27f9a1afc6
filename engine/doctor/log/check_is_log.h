// Whether what was read as a log is one.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/result.h"
#include "engine/doctor/log/log_facts.h"

namespace shardlab {

// Control characters in a hundred bytes of a text: nine in a hundred random bytes are such, and fewer than
// one in a hundred bytes of a log.
inline constexpr std::int64_t k_most_control_percent = 3;

// bad_input, with the log's name as its place, for an empty one and for bytes that are no text. Damaged logs
// are logs: rubbish is what holds nothing else.
Status check_is_log(const LogFacts& facts, const std::string& name);

}  // namespace shardlab
