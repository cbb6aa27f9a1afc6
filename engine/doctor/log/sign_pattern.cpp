#include "engine/doctor/log/sign_pattern.h"

#include "engine/base/lower_case.h"

namespace shardlab {

std::vector<std::string> split_pattern(std::string_view pattern) {
  std::vector<std::string> pieces;
  while (!pattern.empty()) {
    const std::size_t end = pattern.find('*');
    const std::string_view piece = pattern.substr(0, end);
    if (!piece.empty()) pieces.push_back(in_lower_case(piece));
    pattern.remove_prefix(end == std::string_view::npos ? pattern.size() : end + 1);
  }
  return pieces;
}

std::string longest_piece(std::string_view pattern) {
  std::string longest;
  for (std::string& piece : split_pattern(pattern)) {
    if (piece.size() > longest.size()) longest = std::move(piece);
  }
  return longest;
}

bool matches(const std::vector<std::string>& pieces, std::string_view lower_case_text) {
  std::size_t from = 0;
  for (const std::string& piece : pieces) {
    const std::size_t at = lower_case_text.find(piece, from);
    if (at == std::string_view::npos) return false;
    from = at + piece.size();
  }
  return true;
}

bool matches(std::string_view pattern, std::string_view lower_case_text) {
  return matches(split_pattern(pattern), lower_case_text);
}

}  // namespace shardlab
