#include "engine/doctor/log/word_finder.h"

#include <deque>

namespace shardlab {
namespace {

constexpr std::uint32_t k_none = 0xffffffff;

unsigned char small(unsigned char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<unsigned char>(c - 'A' + 'a') : c;
}

}  // namespace

WordFinder::WordFinder(const std::vector<std::string>& words) : word_count_(words.size()) {
  for (const std::string& word : words) {
    for (const char c : word) {
      const unsigned char byte = small(static_cast<unsigned char>(c));
      if (symbol_of_[byte] == 0) symbol_of_[byte] = static_cast<std::uint8_t>(symbols_++);
    }
  }
  for (unsigned char c = 'A'; c <= 'Z'; ++c) symbol_of_[c] = symbol_of_[small(c)];

  // The tree of the words.
  nodes_.emplace_back();
  next_.assign(symbols_, k_none);
  for (std::uint32_t index = 0; index < words.size(); ++index) {
    std::uint32_t state = 0;
    for (const char c : words[index]) {
      const std::size_t edge = state * symbols_ + symbol_of_[static_cast<unsigned char>(c)];
      if (next_[edge] == k_none) {
        next_[edge] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.emplace_back();
        next_.resize(next_.size() + symbols_, k_none);
      }
      state = next_[edge];
    }
    nodes_[state].words.push_back(index);
  }

  // Where a state has no edge, it goes on from its longest suffix that is a state.
  std::vector<std::uint32_t> suffix(nodes_.size(), 0);
  std::deque<std::uint32_t> todo = {0};
  while (!todo.empty()) {
    const std::uint32_t state = todo.front();
    todo.pop_front();
    for (std::uint32_t symbol = 0; symbol < symbols_; ++symbol) {
      std::uint32_t& target = next_[state * symbols_ + symbol];
      const std::uint32_t fallback = state == 0 ? 0 : next_[suffix[state] * symbols_ + symbol];
      if (target == k_none) {
        target = fallback;
        continue;
      }
      suffix[target] = fallback;
      const auto& shorter = nodes_[fallback].words;
      nodes_[target].words.insert(nodes_[target].words.end(), shorter.begin(), shorter.end());
      todo.push_back(target);
    }
  }
  for (const Node& node : nodes_) ends_.push_back(node.words.empty() ? 0 : 1);
}

void WordFinder::find(std::string_view text, std::vector<std::uint32_t>& found,
                      std::vector<std::uint8_t>& marks) const {
  found.clear();
  if (marks.size() != word_count_) marks.assign(word_count_, 0);
  std::uint32_t state = 0;
  for (const char c : text) {
    state = step(state, symbol_of_[static_cast<unsigned char>(c)]);
    if (ends_[state] == 0) continue;
    for (const std::uint32_t word : nodes_[state].words) {
      if (marks[word] != 0) continue;
      marks[word] = 1;
      found.push_back(word);
    }
  }
  for (const std::uint32_t word : found) marks[word] = 0;
}

}  // namespace shardlab
