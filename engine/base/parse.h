// Numbers and quantities as people write them in scenarios and options.
//
// An error has no place (`where` is empty): the caller knows it. Its `what` quotes the text and says what was
// expected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/units.h"

namespace shardlab {

// "4096", "1_000", "5e8", "8k" = 8000 (k, M, G or B, T are decimal), "8Ki" = 8192 (Ki to Ti).
// Exact or an error.
Result<std::int64_t> parse_integer(std::string_view text);

// "1e-4", "0.5", "1_000.5". Finite.
Result<double> parse_number(std::string_view text);

// "true" or "false", in the three spellings of YAML 1.2.
Result<bool> parse_boolean(std::string_view text);

// "25MiB", "1.5 GiB", "80 GB", "512 B", "4096" (bytes): B, KiB MiB GiB TiB (powers of 1024), KB MB GB TB (of
// 1000).
Result<Bytes> parse_bytes(std::string_view text);

// A size per second: "3.5 GB/s"; without "/s" as well.
Result<BytesPerSecond> parse_bytes_per_second(std::string_view text);

// "30s", "1.5 ms": ns us ms s min h. The unit is required.
Result<Nanoseconds> parse_duration(std::string_view text);

// "2%" or "0.02".
Result<double> parse_fraction(std::string_view text);

// The shortest texts that the functions above read back to the equal value.
std::string format_number(double value);
std::string format_bytes(Bytes bytes);
std::string format_duration(Nanoseconds time);
std::string format_fraction(double fraction);

}  // namespace shardlab
