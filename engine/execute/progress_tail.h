// Follows a spool while it is written. Private to this folder.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "engine/execute/launch.h"

namespace shardlab {

class ProgressTail {
 public:
  explicit ProgressTail(std::filesystem::path path) : path_(std::move(path)) {}

  // What is new since the last call; nothing when nothing is. Reads the beginnings of lines only.
  std::optional<RunProgress> read();

 private:
  bool take_line(const std::string& line);

  std::filesystem::path path_;
  std::ifstream stream_;
  std::string partial_;  // the beginning of a line that is not complete yet
  RunProgress progress_;
};

}  // namespace shardlab
