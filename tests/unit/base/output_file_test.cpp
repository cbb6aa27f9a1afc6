// What may be replaced by a file that a run writes.
#include "engine/base/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "tests/catch.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

TEST_CASE("output file: ordinary files and links to them, nothing else") {
  const fs::path folder = fs::temp_directory_path() / fmt::format("shardlab-output-{}", ::getpid());
  fs::create_directories(folder);
  std::ofstream(folder / "file").close();
  fs::create_symlink(folder / "file", folder / "link");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(replaceable_file(folder / "new").value() == folder / "new");
  CHECK(replaceable_file(folder / "file").value() == folder / "file");
  CHECK(replaceable_file(folder / "link").value() == fs::canonical(folder / "file"));
  CHECK(replaceable_file(folder / "pipe").error().what == "is no ordinary file");
  CHECK(replaceable_file(folder).error().what == "is a folder");
  CHECK(replaceable_file("/dev/null").error().what == "is no ordinary file");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace shardlab
