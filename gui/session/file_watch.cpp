#include "gui/session/file_watch.h"

namespace shardlab::gui {
namespace {

std::optional<std::filesystem::file_time_type> time_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(file, error);
  return error ? std::nullopt : std::optional(time);
}

}  // namespace

void FileWatch::know(const std::filesystem::path& file) {
  file_ = file;
  known_ = time_of(file);
}

bool FileWatch::changed(double now) {
  if (file_.empty() || now - last_look_ < k_look_every_seconds) return false;
  last_look_ = now;
  const auto time = time_of(file_);
  if (!time || time == known_) return false;
  known_ = time;
  return true;
}

}  // namespace shardlab::gui
