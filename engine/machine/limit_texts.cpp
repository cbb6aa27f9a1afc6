#include "engine/machine/limit_texts.h"

#include "engine/base/parse.h"
#include "engine/machine/text_lines.h"

namespace shardlab {
namespace {

std::optional<std::int64_t> number_in(std::string_view word) {
  const auto number = parse_integer(word);
  return number && *number >= 0 ? std::optional(*number) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> limit_of(std::string_view text, std::string_view row) {
  for (const std::string_view line : lines_of(text)) {
    if (!line.starts_with(row)) continue;
    const auto words = words_in(line.substr(row.size()));
    return words.empty() ? std::nullopt : number_in(words.front());
  }
  return std::nullopt;
}

std::optional<Bytes> total_memory(std::string_view text) {
  constexpr std::int64_t k_kibibyte = 1024, k_most = std::int64_t{1} << 50;
  const auto kibibytes = number_in(word_after(text, "MemTotal:"));
  if (!kibibytes || *kibibytes > k_most / k_kibibyte) return std::nullopt;
  return Bytes{*kibibytes * k_kibibyte};
}

std::optional<Bytes> size_of_mount(std::string_view text) {
  const auto lines = lines_of(text);
  if (lines.empty()) return std::nullopt;
  const auto words = words_in(lines.back());
  return words.size() < 2 ? std::nullopt : bytes_in(words[1]);
}

std::optional<Bytes> bytes_in(std::string_view text) {
  const auto number = number_in(trimmed(text));
  return number ? std::optional(Bytes{*number}) : std::nullopt;
}

}  // namespace shardlab
