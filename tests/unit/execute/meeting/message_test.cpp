#include "engine/execute/meeting/message.h"

#include "engine/base/result.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("messages read back, whatever bytes their texts have") {
  for (const MeetingMessage& message :
       {MeetingMessage{MeetingVerb::count, 0, {}}, MeetingMessage{MeetingVerb::add, -7, {"key"}},
        MeetingMessage{MeetingVerb::set, 0, {"", std::string("\0\xff", 2)}}}) {
    const std::string bytes = message_bytes(message);
    CHECK(parse_message(std::string_view(bytes).substr(sizeof(MessageLength))) == message);
  }
}

TEST_CASE("what is no message is none") {
  const std::string bytes = message_bytes({MeetingVerb::set, 0, {"key", "value"}});
  const std::string_view body = std::string_view(bytes).substr(sizeof(MessageLength));
  const std::size_t first_text = body.size() - 2 * sizeof(MessageLength) - 8;
  for (std::size_t length = 0; length < body.size(); ++length) {
    const bool ends_between_texts = length == first_text || length == first_text + 7;
    CHECK(parse_message(body.substr(0, length)).has_value() == ends_between_texts);
  }
  std::string unknown(body);
  unknown[0] = 100;
  CHECK_FALSE(parse_message(unknown));
}

}  // namespace
}  // namespace shardlab
