// There is the old content or the whole new one.
#include "engine/base/output_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "tests/catch.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

class OutputFolder {
 public:
  OutputFolder() : path_(fs::temp_directory_path() / fmt::format("shardlab-output-{}", ::getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~OutputFolder() { fs::remove_all(path_); }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  const fs::path& path() const { return path_; }
  fs::path operator/(const char* name) const { return path_ / name; }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(path_), {}); }

 private:
  fs::path path_;
};

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

// As a full disk: no file of this process grows beyond it.
class LargestFile {
 public:
  explicit LargestFile(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LargestFile() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  LargestFile(const LargestFile&) = delete;
  LargestFile& operator=(const LargestFile&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_CASE("output file: ordinary files and links to them may be replaced, nothing else") {
  const OutputFolder folder;
  std::ofstream(folder / "file").close();
  fs::create_symlink(folder / "file", folder / "link");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(replaceable_file(folder / "new").value() == folder / "new");
  CHECK(replaceable_file(folder / "file").value() == folder / "file");
  CHECK(replaceable_file(folder / "link").value() == fs::canonical(folder / "file"));
  CHECK_THAT(replaceable_file(folder / "pipe").error().what, test::contains_text("is no ordinary file"));
  CHECK_THAT(replaceable_file(folder.path()).error().what, test::contains_text("is a folder"));
  CHECK_THAT(replaceable_file("/dev/null").error().what, test::contains_text("is no ordinary file"));
}

TEST_CASE("output file: nothing is there before it is finished, and nothing of it when it is not") {
  const OutputFolder folder;
  std::ofstream(folder / "file") << "old";
  {
    auto file = OutputFile::create(folder / "file");
    REQUIRE_OK(file);
    REQUIRE_OK(file->write("new"));
    CHECK(content(folder / "file") == "old");
  }
  CHECK(content(folder / "file") == "old");
  CHECK(folder.files() == 1);
  REQUIRE_OK(write_output_file(folder / "file", "new"));
  CHECK(content(folder / "file") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("output file: a full disk leaves what was there") {
  const OutputFolder folder;
  REQUIRE_OK(write_output_file(folder / "file", "old"));
  const LargestFile limit(1000);
  const Status written = write_output_file(folder / "file", std::string(5000, 'x'));
  REQUIRE(!written);
  CHECK(written.error().kind == ErrorKind::not_possible);
  CHECK_THAT(to_string(written.error()), test::contains_text("file: cannot be written: File too large"));
  CHECK(content(folder / "file") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("output file: permissions are those of the old file, or what the mode says") {
  const OutputFolder folder;
  const auto permissions = [](const fs::path& file) {
    return static_cast<unsigned>(fs::status(file).permissions());
  };
  REQUIRE_OK(write_output_file(folder / "file", "old"));
  fs::permissions(folder / "file", fs::perms(0640));
  REQUIRE_OK(write_output_file(folder / "file", "new"));
  CHECK(permissions(folder / "file") == 0640);
  REQUIRE_OK(write_output_file(folder / "run.sh", "", FileMode::executable));
  CHECK((permissions(folder / "run.sh") & 0700) == 0700);
  REQUIRE_OK(write_output_file(folder / "secret", "", FileMode::private_to_user));
  CHECK(permissions(folder / "secret") == 0600);
}

TEST_CASE(
    "output file: a link stays one, a pipe is written to, and one that nobody reads is refused at once") {
  const OutputFolder folder;
  REQUIRE_OK(write_output_file(folder / "file", "old"));
  fs::create_symlink(folder / "file", folder / "link");
  REQUIRE_OK(write_output_file(folder / "link", "new"));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(content(folder / "file") == "new");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const Status alone = write_output_file(folder / "pipe", "x");
  REQUIRE(!alone);
  CHECK_THAT(alone.error().what, test::contains_text("nobody reads"));
  const int reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  REQUIRE_OK(write_output_file(folder / "pipe", "x"));
  char read = 0;
  CHECK(::read(reader, &read, 1) == 1);
  ::close(reader);
  CHECK(fs::is_fifo(folder / "pipe"));
  REQUIRE_OK(write_output_file("/dev/null", "x"));
  CHECK(fs::is_character_file("/dev/null"));
  const Status full = write_output_file("/dev/full", "x");
  REQUIRE(!full);
  CHECK(full.error().kind == ErrorKind::not_possible);
}

TEST_CASE("output file: a path that leads nowhere is the user's mistake") {
  const OutputFolder folder;
  for (const fs::path& file : {folder / "none/file", folder.path(), fs::path("")}) {
    const Status written = write_output_file(file, "x");
    REQUIRE(!written);
    CHECK(written.error().kind == ErrorKind::bad_input);
    CHECK_THAT(written.error().what, test::contains_text("cannot be written"));
  }
}

}  // namespace
}  // namespace shardlab
