#include "engine/base/changed_lines.h"

#include <algorithm>
#include <vector>

namespace shardlab {
namespace {

// Each with its line feed.
std::vector<std::string_view> whole_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

}  // namespace

ChangedLines changed_lines(std::string_view before, std::string_view after) {
  const auto old_lines = whole_lines(before), new_lines = whole_lines(after);
  const auto head = static_cast<std::size_t>(
      std::mismatch(old_lines.begin(), old_lines.end(), new_lines.begin(), new_lines.end()).first -
      old_lines.begin());
  std::size_t tail = 0;
  const std::size_t most = std::min(old_lines.size(), new_lines.size()) - head;
  while (tail < most && old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail])
    ++tail;
  ChangedLines changed;
  changed.begin = static_cast<std::int64_t>(head) + 1;
  changed.end = static_cast<std::int64_t>(old_lines.size() - tail) + 1;
  for (std::size_t i = head; i < new_lines.size() - tail; ++i) changed.text += new_lines[i];
  return changed;
}

}  // namespace shardlab
