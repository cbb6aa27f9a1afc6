// Files that would be written, a tab each: their text, or the difference to what stands on disk.
#pragma once

#include <vector>

#include "gui/view_model/exports/standing_file.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

class FilePreview {
 public:
  void draw(const std::vector<view::StandingFile>& files, const Theme& theme);

 private:
  void draw_file(const view::StandingFile& file, const Theme& theme);

  bool differences_ = true;  // are shown where there are any
};

}  // namespace shardlab::gui
