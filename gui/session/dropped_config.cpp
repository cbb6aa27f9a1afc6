#include "gui/session/dropped_config.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "gui/session/yaml_edit.h"

namespace shardlab::gui {

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
