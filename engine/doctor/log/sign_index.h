// The signs of rules, found by the words that they are made of. It takes milliseconds to make: share one
// between logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/doctor/log/word_finder.h"
#include "engine/doctor/rule.h"

namespace shardlab {

struct IndexedSign {
  const LogSign* sign = nullptr;
  std::uint32_t rule = 0;  // its index
  std::vector<std::string> pieces;
  std::string anchor;  // the longest of them
  std::vector<std::string> frame;
  std::vector<std::vector<std::string>> unless;
};

class SignIndex {
 public:
  explicit SignIndex(const std::vector<Rule>& rules);

  // The anchors that stand in the line: of signs, and of what the reader itself looks for, which have no
  // signs.
  void find(std::string_view line, std::vector<std::uint32_t>& found,
            std::vector<std::uint8_t>& marks) const {
    finder_.find(line, found, marks);
  }
  // Whether the anchors are words of figures alone: no sign, and nothing that reports a failure.
  bool are_figures(const std::vector<std::uint32_t>& found) const;
  const std::vector<IndexedSign>& signs_of(std::uint32_t anchor) const { return by_anchor_[anchor]; }

 private:
  static std::vector<std::string> collect(const std::vector<Rule>& rules,
                                          std::vector<std::vector<IndexedSign>>& by_anchor);

  std::vector<std::vector<IndexedSign>> by_anchor_;
  WordFinder finder_;
};

// Whether the line is the sign's, its frame aside.
bool matches(const IndexedSign& sign, std::string_view lower_case_line);

}  // namespace shardlab
