// Whatever becomes of the files that the window has open, it goes on: each time with a message, and as before
// when the trouble is over.
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "engine/store/run_store.h"
#include "tests/catch.h"
#include "tests/gui/stored_prediction.h"
#include "tests/gui/ui.h"
#include "tests/paths.h"

namespace shardlab::gui {
namespace {

using namespace test;
namespace fs = std::filesystem;

bool tells(Ui& ui, const std::string& words) {
  for (const Message& message : ui.session().messages().all())
    if (message.text.find(words) != std::string::npos) return true;
  return false;
}

// Every panel in front once, with what it shows.
void draw_all(Ui& ui) {
  for (const char* panel : {"scenario", "memory", "plan", "compare", "runs", "timeline", "monitor", "player",
                            "fit", "hardware"}) {
    ui.shell().show_panel(panel);
    ui.frames(3);
  }
  ui.settle();
}

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE(
    "the database is deleted, replaced, cut off, filled with rubbish and locked away under the open window") {
  const StoredPrediction stored(/*measured=*/true);
  const std::string sound = read(stored.file());
  Ui ui;
  ui.session().use_database(stored.file());
  ui.open(small_scenario());
  ui.session().selection().choose_runs({RunId{1}, RunId{2}});
  ui.settle();
  REQUIRE(ui.session().shown_runs().size() == 3);
  struct Disaster {
    const char* words;  // of the message
    std::function<void()> happens;
  };
  const fs::path file = stored.file(), aside = stored.file().string() + ".aside";
  const Disaster disasters[] = {
      {"was deleted while it was open", [&] { fs::remove(file); }},
      {"this is a folder", [&] { fs::remove(file), fs::create_directory(file); }},
      {"is not a database", [&] { write(file, std::string(9000, 'x')); }},
      {"the database is damaged", [&] { write(file, sound.substr(0, sound.size() / 3)); }},
      {"there is no database yet", [&] { write(file, ""); }},
  };
  for (const Disaster& disaster : disasters) {
    INFO(disaster.words);
    disaster.happens();
    ui.settle();
    draw_all(ui);
    CHECK(tells(ui, disaster.words));
    CHECK(ui.shows("", "File"));
    CHECK(ui.session().prediction());
    // What was there before comes back, as another file and as the old one.
    fs::remove_all(file);
    write(aside, sound);
    fs::rename(aside, file);
    ui.settle();
    draw_all(ui);
    // Calibrations are looked for once in a while of the window's clock, which every frame moves on.
    for (int i = 0; i < 300 && tells(ui, disaster.words); ++i) ui.frames(1);
    ui.settle();
    CHECK_FALSE(tells(ui, disaster.words));
    CHECK(ui.session().shown_runs().size() == 3);
  }
}

TEST_CASE("the scenario turns invalid, vanishes and comes back under the open window") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "mine.yaml";
  int seconds = 0;
  const auto rewrite = [&](const std::string& text) {
    write(file, text);
    fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::seconds(++seconds));
  };
  rewrite(small_scenario());
  Ui ui;
  REQUIRE(ui.session().open(file));
  ui.settle();
  const auto good = ui.session().prediction();
  const auto after_a_look = [&] {
    ui.frames(70);  // more than a second of the window's time
    ui.settle();
    draw_all(ui);
  };
  rewrite("train: {micro_batch: [1");
  after_a_look();
  CHECK(tells(ui, "mine.yaml was read again"));
  CHECK(ui.session().problem());
  CHECK(ui.session().prediction() == good);
  rewrite(std::string("\0\1\2", 3));
  after_a_look();
  CHECK(tells(ui, "is no text since another program changed it"));
  fs::remove(file);
  after_a_look();
  CHECK(tells(ui, "is not on disk any more"));
  rewrite(small_scenario());
  after_a_look();
  CHECK_FALSE(tells(ui, "is not on disk any more"));
  CHECK_FALSE(ui.session().problem());
  CHECK_FALSE(ui.session().stale());
}

}  // namespace shardlab::gui
