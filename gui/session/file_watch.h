// Whether the file behind the document changed since it was read or written here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace shardlab::gui {

enum class FileSight : std::uint8_t {
  same,
  changed,  // written, replaced, or there again
  gone,
};

class FileWatch {
 public:
  static constexpr double k_look_every_seconds = 1;

  // The file as it is now is known.
  void know(const std::filesystem::path& file);
  // Nothing is known of the file: what is there is told by the next look.
  void watch(const std::filesystem::path& file);
  // Each change, disappearance and reappearance is told once.
  FileSight look(double now);

 private:
  std::filesystem::path file_;
  std::optional<std::filesystem::file_time_type> known_;
  double last_look_ = 0;
};

}  // namespace shardlab::gui
