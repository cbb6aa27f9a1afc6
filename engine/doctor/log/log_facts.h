// What was read from a log: the input of rules about logs. Bounded in size, however large the log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/doctor/log/allocator_message.h"
#include "engine/doctor/log/collective_message.h"
#include "engine/doctor/log/log_sign.h"

namespace shardlab {

// A line of the log that is kept.
struct SeenLine {
  std::int64_t line = 0;  // from 1
  std::optional<int> rank;
  std::string text;  // readable()

  friend bool operator==(const SeenLine&, const SeenLine&) = default;
};

// A sign that was seen.
struct SeenSign {
  std::int64_t count = 0;
  std::vector<SeenLine> lines;  // the first few
  // The first line on which no other rule had a much surer sign, if any.
  std::optional<SeenLine> own;
};

struct SeenAllocation {
  SeenLine at;
  AllocatorMessage message;
};

// What one rank's watchdog said of one process group: its lines joined.
struct SeenCollective {
  SeenLine at;
  CollectiveMessage message;
};

struct LogFacts {
  std::int64_t lines = 0;
  std::int64_t bytes = 0;
  std::int64_t control_bytes = 0;  // that no text has: below 32, but for tabs, ends of lines, escapes, NUL
  std::unordered_map<const LogSign*, SeenSign> signs;
  std::vector<SeenAllocation> allocations;    // the first few that failed
  std::map<int, SeenCollective> collectives;  // by rank, the first of each
  std::optional<int> first_failed_rank;       // as the launcher's summary says
  // The line most likely to matter to a reader, for logs that no rule knows; and whether it is surely the
  // report of a failure (the end of a traceback, a crash), not merely a line with such a word.
  std::optional<SeenLine> likely;
  bool likely_is_failure = false;

  const SeenSign* seen(const LogSign& sign) const {
    const auto found = signs.find(&sign);
    return found == signs.end() ? nullptr : &found->second;
  }
};

// "line 12", "line 12, rank 3".
std::string place_of(const SeenLine& line);

}  // namespace shardlab
