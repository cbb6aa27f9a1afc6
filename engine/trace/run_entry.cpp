#include "engine/trace/run_entry.h"

#include <fmt/format.h>

#include <charconv>
#include <ctime>

namespace shardlab {

std::string to_string(RunId id) {
  return fmt::format("r{}", id.value);
}

Result<RunId> parse_run_id(std::string_view text) {
  const std::string_view digits = text.starts_with('r') ? text.substr(1) : text;
  RunId id;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, id.value);
  if (error != std::errc() || stop != end || id.value <= 0) {
    return bad_input("", fmt::format("'{}' is no run", text),
                     "runs are written r1, r2 ...; 'history' lists them");
  }
  return id;
}

std::string format_created(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc{};
  if (!gmtime_r(&time, &utc)) return "?";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min);
}

}  // namespace shardlab
