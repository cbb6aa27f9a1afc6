// A config.json that was handed to the window.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace shardlab::gui {

// The smallest scenario around the model: one CPU rank, 1,024 tokens or what the model allows. None when the
// text is no model's configuration.
std::optional<std::string> scenario_around(std::string_view config_text,
                                           const std::filesystem::path& config_file);

}  // namespace shardlab::gui
