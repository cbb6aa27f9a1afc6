// Bytes that a rank sends to the meeting.
#include <optional>

#include "engine/execute/meeting/message.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_message_bytes(std::string_view bytes) {
  const std::optional<MeetingMessage> message = parse_message(bytes);
  if (!message) return Answer::refused;
  const std::string written = message_bytes(*message);
  const auto again = parse_message(std::string_view(written).substr(sizeof(MessageLength)));
  promise(again == message, "a message passes through its bytes");
  return Answer::taken;
}

}  // namespace shardlab::fuzz
