// Choosing a file inside the window: a folder's entries and a name to type. No helper program is needed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gui/widgets/theme.h"

namespace shardlab::gui {

class FileDialog {
 public:
  using Done = std::function<void(const std::filesystem::path&)>;

  // `start` is a file or folder. With `ask_before_overwriting` an existing file is named before it is taken.
  void open(std::string title, const std::filesystem::path& start, bool saving, Done done);
  void draw(const Theme& theme);

 private:
  void enter(const std::filesystem::path& folder);
  void list_entries(float height);
  void take();

  std::string title_;
  std::filesystem::path folder_;
  std::string name_;
  std::vector<std::filesystem::path> entries_;
  std::string problem_;
  bool saving_ = false;
  bool opening_ = false;
  Done done_;
};

}  // namespace shardlab::gui
