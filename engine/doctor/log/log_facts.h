// What was read from a log: the input of rules about logs. Bounded in size, however large the log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/doctor/log/allocator_message.h"
#include "engine/doctor/log/collective_message.h"
#include "engine/doctor/log/log_sign.h"
#include "engine/doctor/series/growing_memory.h"
#include "engine/doctor/series/loss_track.h"
#include "engine/doctor/series/norm_track.h"

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
  std::set<int> ranks;  // that wrote it, the first 64 of them
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

// The process that a launcher reports to have failed first.
struct FirstFailure {
  SeenLine at;
  std::optional<int> rank;
  std::optional<int> exit_code;  // negative: the signal that ended it
};

// The first barrier over the store, in which ranks wait for the others.
struct WaitingBarrier {
  SeenLine at;
  std::int64_t world = 0;
  std::int64_t arrived = 0;  // more than the world: keys of an earlier start, or processes started twice
};

// A figure of the training loop.
struct SeenMetric {
  SeenLine at;
  std::string name;  // "loss"
  std::int64_t count = 1;
};

// The first of some norms of gradients far above their median.
struct SeenSpike {
  SeenLine at;
  Spike spike;
  std::int64_t count = 1;
};

// A loss that had risen when the log ended, or when it became NaN.
struct SeenRise {
  SeenLine at;  // the last loss
  Rise rise;
  bool before_nan = false;
};

// Memory that grows with the steps.
struct SeenGrowth {
  SeenLine at;  // the last figure
  Growth growth;
};

struct LogFacts {
  std::int64_t lines = 0;
  std::int64_t bytes = 0;
  std::int64_t control_bytes = 0;  // that no text has: below 32, but for tabs, ends of lines, escapes, NUL
  std::unordered_map<const LogSign*, SeenSign> signs;
  std::vector<SeenAllocation> allocations;    // the first few that failed
  std::map<int, SeenCollective> collectives;  // by rank, the first of each
  std::optional<FirstFailure> first_failure;  // as the launcher says
  std::optional<WaitingBarrier> barrier;      // the last one that nobody is said to have passed
  std::optional<SeenMetric> not_finite;       // a loss or a norm that is NaN or infinite
  std::optional<SeenMetric> no_scale;         // a loss scale that has fallen to nothing
  std::optional<SeenSpike> spike;
  std::optional<SeenRise> rise;
  std::optional<SeenGrowth> growth;
  // The line most likely to matter to a reader, for logs that no rule knows; and whether it is surely the
  // report of a failure (the end of a traceback, a crash), not merely a line with such a word.
  std::optional<SeenLine> likely;
  bool likely_is_failure = false;
  bool traceback_is_cut = false;  // `likely` is the last frame of a traceback without an exception
  std::string raised_in;          // the frame of the exception of `likely`; empty where it is unknown
  std::string called_from;        // the user's own frame that led there, if it is another one

  const SeenSign* seen(const LogSign& sign) const {
    const auto found = signs.find(&sign);
    return found == signs.end() ? nullptr : &found->second;
  }
};

// "line 12", "line 12, rank 3".
std::string place_of(const SeenLine& line);

}  // namespace shardlab
