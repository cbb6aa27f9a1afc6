// Choosing a file or a folder inside the window: a folder's entries and a name to type. No helper program is
// needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gui/widgets/theme.h"

namespace shardlab::gui {

enum class FileChoice : std::uint8_t {
  existing,  // a file that is there
  new_file,  // one that may be there: the button says that it is overwritten
  folder,    // one that may have to be made
};

class FileDialog {
 public:
  using Done = std::function<void(const std::filesystem::path&)>;

  // `start` is a file or folder.
  void open(std::string title, const std::filesystem::path& start, FileChoice choice, Done done);
  void draw(const Theme& theme);

 private:
  void enter(const std::filesystem::path& folder);
  void list_entries(float height);
  void take();
  const char* action() const;

  std::string title_;
  std::filesystem::path folder_;
  std::string name_;
  std::vector<std::filesystem::path> entries_;
  std::string problem_;
  FileChoice choice_ = FileChoice::existing;
  bool opening_ = false;
  Done done_;
};

}  // namespace shardlab::gui
