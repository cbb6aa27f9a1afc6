#include "gui/session/text_file.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/input_file.h"
#include "engine/scenario/yaml_edit.h"

namespace shardlab::gui {

namespace {

// How many bytes the character at the beginning takes; 0: it is none. (The Unicode Standard, table 3-7.)
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
  const unsigned first = at(0), second = at(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (second < least || second > most) return 0;
  if (first >= 0xE0 && first <= 0xEF) return follows(2) ? 3 : 0;
  if (first >= 0xF0 && first <= 0xF4) return follows(2) && follows(3) ? 4 : 0;
  return 0;
}

bool is_text(std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const bool control = first < 0x20 && first != '\t' && first != '\n' && first != '\r';
    const std::size_t length = utf8_length(text);
    if (control || length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

Result<std::string> read_text_file(const std::filesystem::path& file) {
  constexpr FileKind k_text_file{"text of a scenario or a model", std::int64_t{256} << 10};
  SHARDLAB_TRY(std::string read, read_input_file(file, k_text_file));
  if (!is_text(read))
    return bad_input(in_file(file.string()), "is no text",
                     "scenarios are YAML in UTF-8, without control characters");
  return read;
}

std::optional<std::string> scenario_around(std::string_view config_text,
                                           const std::filesystem::path& config_file) {
  constexpr std::int64_t k_usual = 1024;
  const auto config = nlohmann::json::parse(config_text, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object() || !config.contains("model_type")) return std::nullopt;
  const auto most = config.find("max_position_embeddings");
  const std::int64_t sequence = most != config.end() && most->is_number_integer()
                                    ? std::min(k_usual, most->get<std::int64_t>())
                                    : k_usual;
  return fmt::format("model:\n  config: {}\n  sequence_length: {}\ncluster: {{device: cpu, ranks: 1}}\n",
                     quoted_yaml(config_file.string()), sequence);
}

}  // namespace shardlab::gui
