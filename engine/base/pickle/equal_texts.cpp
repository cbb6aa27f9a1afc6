#include "engine/base/pickle/equal_texts.h"

namespace shardlab {

std::uint32_t EqualTexts::add(std::string_view text) {
  if (const auto known = numbers_.find(text); known != numbers_.end()) return *known;
  const auto number = static_cast<std::uint32_t>(pieces_.size());
  pieces_.push_back({all_.size(), text.size()});
  all_ += text;
  numbers_.insert(number);
  return number;
}

}  // namespace shardlab
