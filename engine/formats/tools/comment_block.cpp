#include "engine/formats/tools/comment_block.h"

#include <algorithm>
#include <string_view>

namespace shardlab {
namespace {

constexpr std::size_t k_columns = 100;

// Control characters would end the comment.
std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace

std::string comment_block(std::span<const std::string> lines) {
  std::string block;
  for (const std::string& each : lines) {
    const std::string line = in_one_line(each);
    std::string_view rest = line;
    std::string_view indent = "# ";
    while (rest.size() > k_columns && rest.find(' ') != std::string_view::npos) {
      std::size_t cut = rest.rfind(' ', k_columns);
      if (cut == std::string_view::npos) cut = rest.find(' ');
      block.append(indent).append(rest.substr(0, cut)).append("\n");
      rest.remove_prefix(cut + 1);
      indent = "#   ";
    }
    block.append(indent).append(rest).append("\n");
  }
  return block;
}

}  // namespace shardlab
