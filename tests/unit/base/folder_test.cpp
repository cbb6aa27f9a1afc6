// What lies in folders, and what cannot be told.
#include "engine/base/folder.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "tests/catch.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

TEST_CASE("folder: what lies in it is sorted, and files below it are found") {
  const fs::path folder = fs::temp_directory_path() / fmt::format("shardlab-folder-{}", ::getpid());
  fs::remove_all(folder);
  fs::create_directories(folder / "b" / "deeper");
  for (const char* name : {"c", "a", "b/deeper/x"}) std::ofstream(folder / name) << name;
  CHECK(paths_in(folder).value() == std::vector<fs::path>{folder / "a", folder / "b", folder / "c"});
  CHECK(files_below(folder).value() ==
        std::vector<fs::path>{folder / "a", folder / "b/deeper/x", folder / "c"});
  CHECK(is_there(folder / "b").value());
  CHECK_FALSE(is_there(folder / "none").value());
  CHECK_FALSE(is_there(folder / std::string(5000, 'x')).value());
  CHECK(paths_in(folder / "a").error().what == "is no folder");
  CHECK(paths_in(folder / "none").error().what == "no such folder");
  fs::remove_all(folder);
}

TEST_CASE("folder: what cannot be told is the machine's, and is told") {
  const fs::path loop = fs::temp_directory_path() / fmt::format("shardlab-loop-{}", ::getpid());
  fs::remove(loop);
  fs::create_symlink(loop, loop);
  for (const Error& error : {is_there(loop).error(), paths_in(loop).error()}) {
    CHECK(error.code == ErrorCode::unreadable);
    CHECK(is_of_the_machine(error));
    CHECK_THAT(error.what, test::contains_text("cannot be read: "));
  }
  Error several;
  several.parts = {Error{ErrorKind::bad_input, {}, "a setting", {}}, is_there(loop).error()};
  CHECK(is_of_the_machine(several));
  several.parts.pop_back();
  CHECK_FALSE(is_of_the_machine(several));
  fs::remove(loop);
}

}  // namespace
}  // namespace shardlab
