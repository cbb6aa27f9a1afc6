#include "gui/session/messages.h"

#include <algorithm>

namespace shardlab::gui {

void Messages::add(Message message) {
  if (!message.topic.empty()) {
    const auto old = std::find_if(messages_.begin(), messages_.end(),
                                  [&](const Message& known) { return known.topic == message.topic; });
    if (old != messages_.end()) {
      if (old->text == message.text && old->kind == message.kind) return;
      messages_.erase(old);
    }
  }
  // Two readers of one file have one trouble.
  const bool told =
      !message.topic.empty() && std::any_of(messages_.begin(), messages_.end(), [&](const Message& known) {
        return known.kind == message.kind && known.text == message.text;
      });
  if (told) return;
  messages_.push_back(std::move(message));
  if (messages_.size() > k_most) messages_.erase(messages_.begin());
}

void Messages::add(const Error& error, std::string topic, double now) {
  add({MessageKind::error, message_text(error), error.hint, std::move(topic), now});
}

void Messages::clear(std::string_view topic) {
  std::erase_if(messages_, [&](const Message& message) { return message.topic == topic; });
}

void Messages::dismiss(std::size_t index) {
  if (index < messages_.size()) messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace shardlab::gui
