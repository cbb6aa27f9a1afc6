// Questions and answers of a meeting as bytes. Both sides are of one version of this program, which the job
// of a run has compared; numbers are in this machine's order of bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab {

enum class MeetingVerb : std::uint8_t {
  set,          // key, value
  get,          // key -> the value; `no` without one
  append,       // key, more
  add,          // key, number -> the sum
  compare_set,  // key, expected, desired -> what stands there
  erase,        // key; `no` when it was not there
  has,          // keys; `no` unless all are there
  wait,         // keys, milliseconds; `no` when the time is over
  count,        // -> the number of keys
  // Answers.
  yes,
  no,
};

struct MeetingMessage {
  MeetingVerb verb = MeetingVerb::no;
  std::int64_t number = 0;
  std::vector<std::string> texts;
  friend bool operator==(const MeetingMessage&, const MeetingMessage&) = default;
};

// The length of what follows, as the first bytes of a message.
using MessageLength = std::uint32_t;
inline constexpr MessageLength k_longest_message = MessageLength{64} << 20;

// With its length in front.
std::string message_bytes(const MeetingMessage& message);
// What follows the length, back again; nothing for bytes that are no message.
std::optional<MeetingMessage> parse_message(std::string_view bytes);

}  // namespace shardlab
