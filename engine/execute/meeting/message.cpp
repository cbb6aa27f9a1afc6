#include "engine/execute/meeting/message.h"

#include <cstring>

namespace shardlab {
namespace {

template <typename Number>
void put(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename Number>
bool take(std::string_view& bytes, Number& number) {
  if (bytes.size() < sizeof number) return false;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return true;
}

bool take_text(std::string_view& bytes, std::string& text) {
  MessageLength length = 0;
  if (!take(bytes, length) || bytes.size() < length) return false;
  text = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return true;
}

}  // namespace

std::string message_bytes(const MeetingMessage& message) {
  std::string body;
  put(body, message.verb);
  put(body, message.number);
  for (const std::string& text : message.texts) {
    put(body, static_cast<MessageLength>(text.size()));
    body += text;
  }
  std::string bytes;
  put(bytes, static_cast<MessageLength>(body.size()));
  return bytes + body;
}

std::optional<MeetingMessage> parse_message(std::string_view bytes) {
  MeetingMessage message;
  if (!take(bytes, message.verb) || !take(bytes, message.number) || message.verb > MeetingVerb::no)
    return std::nullopt;
  while (!bytes.empty()) {
    if (!take_text(bytes, message.texts.emplace_back())) return std::nullopt;
  }
  return message;
}

}  // namespace shardlab
