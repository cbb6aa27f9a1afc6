#include "tests/fuzz/scratch_file.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/fuzz/promise.h"

namespace shardlab::fuzz {
namespace {

namespace fs = std::filesystem;

fs::path new_folder() {
  const char* const wanted = std::getenv("TMPDIR");
  const fs::path parent = wanted != nullptr        ? fs::path(wanted)
                          : fs::exists("/dev/shm") ? fs::path("/dev/shm")
                                                   : fs::temp_directory_path();
  std::string name = (parent / "shardlab-fuzz-XXXXXX").string();
  promise(mkdtemp(name.data()) != nullptr, "a folder for files can be made in " + parent.string());
  return name;
}

struct ScratchFolder {
  ScratchFolder() : path(new_folder()) {}
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  fs::path path;
};

}  // namespace

const fs::path& scratch_folder() {
  static const ScratchFolder folder;
  return folder.path;
}

fs::path scratch_file(std::string_view name, std::string_view bytes) {
  const fs::path file = scratch_folder() / name;
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  promise(stream.flush().good(), "a file can be written in " + scratch_folder().string());
  return file;
}

}  // namespace shardlab::fuzz
