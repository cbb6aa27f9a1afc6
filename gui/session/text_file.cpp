#include "gui/session/text_file.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/input_file.h"
#include "engine/base/text/utf8.h"
#include "engine/scenario/yaml_edit.h"

namespace shardlab::gui {

namespace {

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
