// What the window remembers between its runs, besides where its panels are: one small JSON file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace shardlab::gui {

struct Preferences {
  static constexpr std::size_t k_most_recent = 12;

  std::string theme = "dark";             // dark light
  double scale = 0;                       // 0: the monitor's
  std::vector<std::string> recent_files;  // newest first
  std::vector<std::string> closed_panels;
  std::string layout;  // Dear ImGui's .ini text; empty: the default layout
  friend bool operator==(const Preferences&, const Preferences&) = default;
};

// Puts the file first, once.
void remember_file(Preferences& preferences, const std::filesystem::path& file);

// $XDG_CONFIG_HOME/shardlab/gui.json, else ~/.config/shardlab/gui.json; empty without a home.
std::filesystem::path preferences_path();

// A missing file gives the defaults; one that cannot be read or understood is bad_input, and the defaults are
// used.
Result<Preferences> load_preferences(const std::filesystem::path& file);
// Through a file beside it, so that a crash leaves the old one.
Status save_preferences(const Preferences& preferences, const std::filesystem::path& file);

}  // namespace shardlab::gui
