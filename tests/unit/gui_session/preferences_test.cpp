#include "gui/session/preferences.h"

#include <sys/stat.h>

#include <fstream>

#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::gui {

TEST_CASE("preferences are read back as they were written") {
  const test::TemporaryFolder folder;
  Preferences preferences;
  preferences.theme = "light";
  preferences.scale = 1.5;
  preferences.closed_panels = {"plan"};
  preferences.layout = "[Window][x]\nPos=1,2\n";
  remember_file(preferences, "/a/b.yaml");
  remember_file(preferences, "/a/c.yaml");
  remember_file(preferences, "/a/b.yaml");
  CHECK(preferences.recent_files == std::vector<std::string>{"/a/b.yaml", "/a/c.yaml"});
  const auto file = folder.path() / "deep" / "gui.json";
  REQUIRE_OK(save_preferences(preferences, file));
  const auto read = load_preferences(file);
  REQUIRE_OK(read);
  CHECK(*read == preferences);
}

TEST_CASE("missing preferences are the defaults, damaged ones an error, odd values are tamed") {
  const test::TemporaryFolder folder;
  CHECK(load_preferences(folder.path() / "none.json").value() == Preferences{});
  std::ofstream(folder.path() / "bad.json") << "{\"theme\": ";
  CHECK_FALSE(load_preferences(folder.path() / "bad.json"));
  std::ofstream(folder.path() / "types.json") << "{\"theme\": 3}";
  CHECK_FALSE(load_preferences(folder.path() / "types.json"));
  std::ofstream(folder.path() / "scale.json") << "{\"scale\": 1000}";
  CHECK(load_preferences(folder.path() / "scale.json").value().scale == 4);
  std::ofstream(folder.path() / "deep.json") << "{\"theme\": " << std::string(100'000, '[');
  CHECK_FALSE(load_preferences(folder.path() / "deep.json"));
}

TEST_CASE("preferences that are no file are neither waited for nor read without end") {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "gui.json";
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  CHECK(load_preferences(file).error().what == "is a pipe, not a file of preferences");
  CHECK(load_preferences("/dev/zero").error().what == "is a device, not a file of preferences");
  CHECK_FALSE(load_preferences(folder.path()));
}

}  // namespace shardlab::gui
