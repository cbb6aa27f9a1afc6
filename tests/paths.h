// Where tests find their data and may write.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

namespace shardlab::test {

// A file below tests/data.
inline std::filesystem::path data_file(std::string_view relative) {
  return std::filesystem::path(SHARDLAB_TEST_DATA) / relative;
}

// The root of the source tree and the folder of the built programs.
inline std::filesystem::path source_folder() {
  return SHARDLAB_TEST_SOURCE;
}
inline std::filesystem::path programs_folder() {
  return SHARDLAB_TEST_PROGRAMS;
}

// An empty folder of its own, removed with everything in it at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> count{0};
    path_ = std::filesystem::temp_directory_path() /
            ("shardlab-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace shardlab::test
