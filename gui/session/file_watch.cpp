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

void FileWatch::watch(const std::filesystem::path& file) {
  file_ = file;
  known_.reset();
}

FileSight FileWatch::look(double now) {
  if (file_.empty() || now - last_look_ < k_look_every_seconds) return FileSight::same;
  last_look_ = now;
  const auto time = time_of(file_);
  if (time == known_) return FileSight::same;
  known_ = time;
  return time ? FileSight::changed : FileSight::gone;
}

}  // namespace shardlab::gui
