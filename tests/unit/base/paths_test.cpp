#include "engine/base/paths.h"

#include <cstdlib>
#include <fstream>

#include "tests/catch.h"
#include "tests/paths.h"

namespace fs = std::filesystem;
using shardlab::find_asset;
using shardlab::find_scenario;
using shardlab::test::contains_text;

namespace {

// Sets SHARDLAB_ASSETS for one test and puts back what was there.
class AssetsVariable {
 public:
  explicit AssetsVariable(const fs::path& value) {
    if (const char* before = std::getenv("SHARDLAB_ASSETS")) before_ = before;
    ::setenv("SHARDLAB_ASSETS", value.c_str(), 1);
  }
  ~AssetsVariable() {
    if (before_.empty()) {
      ::unsetenv("SHARDLAB_ASSETS");
    } else {
      ::setenv("SHARDLAB_ASSETS", before_.c_str(), 1);
    }
  }
  AssetsVariable(const AssetsVariable&) = delete;
  AssetsVariable& operator=(const AssetsVariable&) = delete;

 private:
  std::string before_;
};

void write(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "x";
}

}  // namespace

TEST_CASE("assets are found in the source tree") {
  const auto found = find_asset("data/licenses.txt");
  REQUIRE_OK(found);
  CHECK(fs::equivalent(*found, shardlab::test::source_folder() / "assets/data/licenses.txt"));
}

TEST_CASE("SHARDLAB_ASSETS replaces the source tree, for scenarios beside it too") {
  const shardlab::test::TemporaryFolder folder;
  write(folder.path() / "assets/hardware/a.yaml");
  write(folder.path() / "scenarios/first/b.yaml");
  for (const char* ending : {"assets", "assets/"}) {
    const AssetsVariable variable(folder.path() / ending);
    REQUIRE_OK(find_asset("hardware/a.yaml"));
    REQUIRE_OK(find_scenario("first/b.yaml"));
    CHECK_FALSE(find_asset("data/licenses.txt"));
  }
}

TEST_CASE("a missing asset names the places that were searched and the remedy") {
  const shardlab::test::TemporaryFolder folder;
  const AssetsVariable variable(folder.path());
  const auto missing = find_asset("hardware/none.yaml");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == shardlab::ErrorKind::not_possible);
  CHECK_THAT(missing.error().what, contains_text(folder.path().string()));
  CHECK_THAT(missing.error().hint, contains_text("SHARDLAB_ASSETS"));
}

TEST_CASE("a path that leaves the folder is refused") {
  for (const char* path : {"../README.md", "data/../../README.md", "/etc/passwd", ""}) {
    const auto refused = find_asset(path);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == shardlab::ErrorKind::bad_input);
  }
}

TEST_CASE("the program's folder holds this test") {
  CHECK(fs::is_directory(shardlab::program_folder()));
}
