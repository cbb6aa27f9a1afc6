#include "engine/base/paths.h"

#include <fstream>

#include "tests/catch.h"
#include "tests/environment_variable.h"
#include "tests/paths.h"

namespace fs = std::filesystem;
using shardlab::find_asset;
using shardlab::find_scenario;
using shardlab::test::contains_text;
using shardlab::test::EnvironmentVariable;

namespace {

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
    const EnvironmentVariable variable("SHARDLAB_ASSETS", (folder.path() / ending).string());
    REQUIRE_OK(find_asset("hardware/a.yaml"));
    REQUIRE_OK(find_scenario("first/b.yaml"));
    CHECK_FALSE(find_asset("data/licenses.txt"));
  }
}

TEST_CASE("a missing asset names the places that were searched and the remedy") {
  const shardlab::test::TemporaryFolder folder;
  const EnvironmentVariable variable("SHARDLAB_ASSETS", folder.path().string());
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
