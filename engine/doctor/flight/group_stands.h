// Where the ranks of process groups stand, by their dumps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/doctor/flight/flight_dump.h"

namespace shardlab {

// A rank at a collective; null: it has issued none in the group that its recorder still has.
struct RankStand {
  const FlightDump* dump = nullptr;
  const FlightEntry* entry = nullptr;
};

// The first thing that is wrong in a group.
struct GroupStand {
  enum class Kind : std::uint8_t {
    other_operation,  // `there` call one thing at that number, `elsewhere` another
    other_sizes,      // the same with other sizes or types
    not_called,       // `there` wait, `elsewhere` have not called it: their entry is their last one
    not_done,         // all are there, and it does not end
  };
  Kind kind = Kind::not_done;
  std::string group;
  std::int64_t sequence = 0;
  std::vector<RankStand> there, elsewhere;
  std::vector<int> without_dump;  // members of the group
};

// One for each group whose ranks do not all stand behind collectives that are done; point-to-point calls are
// not looked at. Collectives of a healthy job are under way in its dumps too, and its ranks are dumped one
// after the other: a wait counts from two seconds on, and who was dumped before it began does not miss in it.
// Where dumps do not say when they were written, every wait counts. What a stand points to are the dumps.
std::vector<GroupStand> group_stands(const std::vector<FlightDump>& dumps);

// "all_reduce of [8] Float".
std::string words_of(const FlightEntry& entry);

}  // namespace shardlab
