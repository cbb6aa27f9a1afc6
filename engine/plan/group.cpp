#include "engine/plan/group.h"

#include <charconv>

#include <fmt/format.h>

#include "engine/model/join_teacher.h"

namespace shardlab {
namespace {

constexpr char k_across = ':';

constexpr char separator(GroupDimension dimension) {
  return dimension == GroupDimension::ranks ? '_' : '/';
}

std::optional<int> count(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

}  // namespace

std::string to_text(const RankSet& ranks) {
  std::string text = fmt::format("{}{}", ranks.teachers ? k_teacher_prefix : "", to_string(ranks.dimension));
  if (ranks.part > 0)
    text += fmt::format("{}{}", ranks.across ? k_across : separator(ranks.dimension), ranks.part);
  return text;
}

std::optional<RankSet> parse_rank_set(std::string_view text) {
  RankSet ranks;
  ranks.teachers = text.starts_with(k_teacher_prefix);
  if (ranks.teachers) text.remove_prefix(k_teacher_prefix.size());
  const std::size_t cut = text.find_first_of("/_:");
  const auto dimension = parse_word<GroupDimension>(text.substr(0, cut));
  if (!dimension) return std::nullopt;
  ranks.dimension = *dimension;
  if (cut == std::string_view::npos) return ranks;
  const auto part = count(text.substr(cut + 1));
  ranks.across = text[cut] == k_across && *dimension != GroupDimension::ranks;
  if (!part || (!ranks.across && text[cut] != separator(*dimension))) return std::nullopt;
  ranks.part = *part;
  return ranks;
}

}  // namespace shardlab
