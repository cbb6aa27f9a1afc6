// Files that cannot be read as what they are taken for are refused at once.
#include "engine/base/input_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "tests/catch.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

constexpr FileKind k_small{"small file", 1000};

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("shardlab-input-{}", ::getpid())) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string complaint(const fs::path& file) {
  const auto read = read_input_file(file, k_small);
  return read ? "read" : read.error().what;
}

TEST_CASE("input file: all bytes of an ordinary file, through links too") {
  const Folder folder;
  std::ofstream(folder / "a", std::ios::binary) << std::string("x\0y", 3);
  fs::create_symlink(folder / "a", folder / "link");
  CHECK(read_input_file(folder / "a", k_small).value() == std::string("x\0y", 3));
  CHECK(read_input_file(folder / "link", k_small).value().size() == 3);
  std::ofstream(folder / "empty").close();
  CHECK(read_input_file(folder / "empty", k_small).value().empty());
  // The kernel says that its own files are empty.
  CHECK(!read_input_file("/proc/self/status", {"status", 100'000}).value().empty());
}

TEST_CASE("input file: nothing is waited for, and nothing else than a file is read") {
  const Folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(complaint(folder / "pipe") == "is a pipe, not a small file");
  CHECK(complaint("/dev/zero") == "is a device, not a small file");
  CHECK(complaint(folder / "") == "is a folder, not a small file");
  CHECK(complaint(folder / "none") == "no such file");
  CHECK(complaint("/proc/self/mem").starts_with("cannot be read"));
  fs::create_symlink(folder / "loop", folder / "loop");
  CHECK(complaint(folder / "loop").starts_with("cannot be opened"));
}

TEST_CASE("input file: no more is read than such a file has") {
  const Folder folder;
  std::ofstream(folder / "large") << std::string(1001, 'x');
  std::ofstream(folder / "full") << std::string(1000, 'x');
  CHECK(complaint(folder / "large") == "is larger than 1000 B, not a small file");
  CHECK(complaint(folder / "full") == "read");
  // Larger than its kind, but of a size that nobody knows before.
  CHECK(read_input_file("/proc/self/maps", {"map", 10}).error().what == "is larger than 10 B, not a map");
}

TEST_CASE("input file: holes are passed over, and nothing else") {
  const Folder folder;
  std::ofstream(folder / "log", std::ios::binary) << "before";
  fs::resize_file(folder / "log", std::uintmax_t{1} << 40);
  std::ofstream(folder / "log", std::ios::binary | std::ios::app) << "after";
  fs::resize_file(folder / "log", std::uintmax_t{1} << 41);
  auto input = InputFile::open(folder / "log", "log");
  REQUIRE_OK(input);
  std::string text, piece(4096, '\0');
  for (int pieces = 0; pieces < 1000; ++pieces) {
    skip_hole(*input);
    const auto got = read_piece(*input, piece, {});
    REQUIRE_OK(got);
    if (*got == 0) break;
    text += piece.substr(0, *got);
  }
  CHECK(text.size() < 1'000'000);
  std::erase(text, '\0');
  CHECK(text == "beforeafter");
}

TEST_CASE("input file: the beginning and the end of files of any size") {
  const Folder folder;
  std::ofstream(folder / "large") << std::string(2000, 'a') << std::string(999, 'b') << "c";
  CHECK(read_beginning(folder / "large", k_small).value() == std::string(1000, 'a'));
  CHECK(read_end(folder / "large", k_small).value() == std::string(999, 'b') + "c");
  std::ofstream(folder / "short") << "ab";
  CHECK(read_beginning(folder / "short", k_small).value() == "ab");
  CHECK(read_end(folder / "short", k_small).value() == "ab");
  std::ofstream(folder / "sparse").close();
  fs::resize_file(folder / "sparse", std::uintmax_t{1} << 40);  // without blocks behind it
  CHECK(read_beginning(folder / "sparse", k_small).value() == std::string(1000, '\0'));
  CHECK(read_end(folder / "sparse", k_small).value().size() == 1000);
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(read_beginning(folder / "pipe", k_small).error().what == "is a pipe, not a small file");
  CHECK(read_end("/dev/zero", k_small).error().what == "is a device, not a small file");
  CHECK(read_beginning("/proc/self/mem", k_small).error().code == ErrorCode::unreadable);
}

}  // namespace
}  // namespace shardlab
