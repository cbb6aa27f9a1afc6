// Traces of a profiler dropped on the window.
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/catch.h"
#include "tests/gui/stored_prediction.h"
#include "tests/gui/ui.h"
#include "tests/paths.h"

namespace shardlab::gui {
namespace {

using namespace test;
namespace fs = std::filesystem;

fs::path fake_program(const TemporaryFolder& folder, const std::string& script) {
  const fs::path program = folder.path() / "shardlab";
  std::ofstream(program) << "#!/bin/sh\n" << script;
  fs::permissions(program, fs::perms::owner_all);
  return program;
}

// Frames until a message has the words; what it says, empty when none does.
std::string wait_for_message(Ui& ui, const std::string& words) {
  for (int i = 0; i < 1000; ++i) {
    for (const Message& message : ui.session().messages().all())
      if (message.text.find(words) != std::string::npos) return message.text + " " + message.hint;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ui.frames(1);
  }
  return {};
}

}  // namespace

TEST_CASE("traces that are dropped together become one run, and that is the chosen one") {
  const TemporaryFolder folder;
  const StoredPrediction stored;
  Ui ui;
  ui.session().use_database(stored.file());
  ui.open(small_scenario());
  ui.session().use_program(fake_program(
      folder, R"(echo '{"event":"stored","run_id":"r2","kind":"measured","plan_hash":"x"}' >&2)"));
  ui.shell().drop_files(
      {data_file("profiler/cuda_rank0.json").string(), data_file("profiler/cuda_rank1.json").string()});
  ui.frames(1);
  CHECK_THAT(wait_for_message(ui, "cuda_rank0.json and 1 more is r2"), contains_text("Timeline"));
  CHECK(ui.session().selection().runs() == std::vector<RunId>{RunId{2}});
}

TEST_CASE("a bad trace is a message, and the window and its scenario stay as they were") {
  const TemporaryFolder folder;
  const StoredPrediction stored;
  Ui ui;
  ui.session().use_database(stored.file());
  ui.open(small_scenario());
  const std::string before = ui.session().document().text();
  ui.session().use_program(fake_program(
      folder,
      R"(echo '{"event":"error","where":"t.json","what":"ends in the middle","hint":"copy it again"}' >&2
exit 2)"));
  std::ofstream(folder.path() / "t.json") << R"({"traceEvents": [{"ph": "X")";
  ui.shell().drop_files({(folder.path() / "t.json").string()});
  CHECK_FALSE(wait_for_message(ui, "ends in the middle").empty());
  CHECK(ui.session().document().text() == before);
  CHECK(ui.session().selection().runs().empty());
  ui.session().use_program("/no/such/program");
  ui.shell().drop_files({(folder.path() / "t.json").string()});
  CHECK_FALSE(wait_for_message(ui, "cannot be started").empty());
  // What is nothing at all is told as before.
  std::ofstream(folder.path() / "letter.json") << "Dear reader";
  ui.shell().drop_files({(folder.path() / "letter.json").string()});
  CHECK_FALSE(wait_for_message(ui, "is nothing that the window can open").empty());
}

}  // namespace shardlab::gui
