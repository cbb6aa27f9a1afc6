// What the window tells: errors and news, newest last, until they are dismissed or grow old.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace shardlab::gui {

enum class MessageKind : std::uint8_t { news, warning, error };

struct Message {
  MessageKind kind = MessageKind::news;
  std::string text;
  std::string hint;
  std::string topic;  // a new message replaces the one of the same topic; may be empty
  double at_seconds = 0;
};

class Messages {
 public:
  static constexpr std::size_t k_most = 50;

  void add(Message message);
  void add(const Error& error, std::string topic, double now);
  void news(std::string text, double now) { add({MessageKind::news, std::move(text), {}, {}, now}); }
  // The trouble with a topic is over.
  void clear(std::string_view topic);
  void dismiss(std::size_t index);

  const std::vector<Message>& all() const { return messages_; }

 private:
  std::vector<Message> messages_;
};

}  // namespace shardlab::gui
