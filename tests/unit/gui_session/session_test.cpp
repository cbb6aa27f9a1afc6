#include "gui/session/session.h"

#include <filesystem>
#include <fstream>

#include "gui/session/text_file.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::gui {
namespace {

namespace fs = std::filesystem;

const fs::path k_scenario = fs::path(SHARDLAB_TEST_SOURCE) / "scenarios/first/llama3-8b-fsdp2-8xh100.yaml";

std::string text_of(const fs::path& file) {
  return read_text_file(file).value();
}

void write(const fs::path& file, const std::string& text) {
  REQUIRE_OK(write_text_file(file, text));
  // Clocks of file systems are coarse: a second write in the same tick must count as another.
  static int writes = 0;
  fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::seconds(++writes));
}

bool tells(Session& session, const std::string& part) {
  for (const Message& message : session.messages().all())
    if (message.text.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a changed setting gives another prediction, and undo gives the old one again") {
  Session session;
  REQUIRE(session.open(k_scenario));
  CHECK(session.stale());
  session.settle();
  REQUIRE(session.prediction());
  CHECK_FALSE(session.stale());
  const RunSummary before = session.prediction()->summary();
  REQUIRE(session.set("train.micro_batch", "2"));
  CHECK(session.stale());
  CHECK(session.prediction()->summary() == before);  // the last good one, told to be stale
  session.settle();
  CHECK_FALSE(session.stale());
  CHECK(session.prediction()->summary().memory->peak_allocated > before.memory->peak_allocated);
  session.undo();
  session.settle();
  CHECK(session.prediction()->summary() == before);
  CHECK_FALSE(session.document().changed());
}

TEST_CASE("of many quick changes only the last is shown, never an older one") {
  Session session;
  session.open(k_scenario);
  session.settle();
  for (int i = 2; i <= 40; ++i) {
    session.set("train.micro_batch", std::to_string(i));
    session.update(i * 0.01);
    if (!session.stale()) CHECK(session.prediction()->planned.scenario.train.micro_batch == i);
  }
  session.settle();
  CHECK_FALSE(session.stale());
  CHECK(session.prediction()->planned.scenario.train.micro_batch == 40);
}

TEST_CASE("a mistake is told and keeps the last good prediction as stale; correcting it ends both") {
  Session session;
  session.open(k_scenario);
  session.settle();
  const auto good = session.prediction();
  session.set("train.micro_batch", "0");
  session.settle();
  REQUIRE(session.problem());
  CHECK_FALSE(session.predicting());
  CHECK(session.stale());
  CHECK(session.prediction() == good);
  session.edit_text("train: [");
  session.settle();
  REQUIRE(session.problem());
  session.undo();
  session.undo();
  session.settle();
  CHECK_FALSE(session.problem());
  CHECK_FALSE(session.stale());
}

TEST_CASE("the file is read again when it changes on disk, and edits are not lost to it") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "s.yaml";
  write(file, text_of(k_scenario));
  Session session;
  REQUIRE(session.open(file));
  session.settle();

  const std::string changed = text_of(k_scenario) + "# from elsewhere\n";
  write(file, changed);
  session.update(10);
  CHECK(session.document().text() == changed);
  CHECK_FALSE(session.document().changed());

  session.set("train.micro_batch", "2");
  const std::string edited = session.document().text();
  write(file, "name: other\n");
  session.update(20);
  CHECK(session.document().text() == edited);
  CHECK(tells(session, "was changed by another program"));
}

TEST_CASE(
    "a file that turns invalid on disk gives a problem, one that disappears gives nothing, and both can come "
    "back") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "s.yaml";
  write(file, text_of(k_scenario));
  Session session;
  REQUIRE(session.open(file));
  session.settle();
  write(file, "model: [unclosed\n");
  session.update(10);
  session.settle();
  REQUIRE(session.problem());
  CHECK(session.prediction());
  fs::remove(file);
  session.update(20);
  write(file, text_of(k_scenario));
  session.update(30);
  session.settle();
  CHECK_FALSE(session.problem());
  CHECK_FALSE(session.stale());
}

TEST_CASE("files that are no scenario are messages") {
  const test::TemporaryFolder folder;
  Session session;
  CHECK_FALSE(session.open(folder.path()));
  CHECK_FALSE(session.open(folder.path() / "missing.yaml"));
  {
    std::ofstream large(folder.path() / "large.yaml");
    large << std::string(300 << 10, '#');
  }
  CHECK_FALSE(session.open(folder.path() / "large.yaml"));
  CHECK(tells(session, "too large"));
  CHECK(session.documents_opened() == 0);
}

TEST_CASE("a dropped config.json becomes the model, nonsense a message") {
  const test::TemporaryFolder folder;
  const fs::path config = folder.path() / "it's a 'model'" / "config.json";
  fs::create_directory(config.parent_path());
  fs::copy_file(fs::path(SHARDLAB_TEST_SOURCE) / "assets/models/tiny-llama/config.json", config);
  Session session;
  REQUIRE(session.open_any({config}));
  session.settle();
  INFO((session.problem() ? to_string(*session.problem()) : ""));
  REQUIRE(session.prediction());
  CHECK(session.prediction()->planned.graph.layers == 6);

  REQUIRE(session.open_any({k_scenario}));
  session.set("model.sequence_length", "512");
  session.unset("parallel.wrap");
  REQUIRE(session.open_any({config}));
  session.settle();
  INFO((session.problem() ? to_string(*session.problem()) : ""));
  CHECK_FALSE(session.problem());
  CHECK(session.prediction()->planned.graph.layers == 6);

  write(folder.path() / "list.json", "{\"events\": []}");
  for (const char* const name : {"list.json", "none.json", "picture.png"})
    CHECK_FALSE(session.open_any({folder.path() / name}));
  CHECK(tells(session, "nothing that the window can open"));
  REQUIRE(session.open_any({folder.path() / "runs.db"}));
  CHECK(session.database() == folder.path() / "runs.db");
}

TEST_CASE("saving writes the text, and a folder that cannot be written is a message") {
  const test::TemporaryFolder folder;
  Session session;
  session.open(k_scenario);
  session.set("train.micro_batch", "2");
  CHECK_FALSE(session.save_as(folder.path() / "no" / "such" / "folder.yaml"));
  CHECK(session.document().changed());
  REQUIRE(session.save_as(folder.path() / "mine.yaml"));
  CHECK_FALSE(session.document().changed());
  CHECK(text_of(folder.path() / "mine.yaml") == session.document().text());
  CHECK(session.preferences().recent_files.front() == (folder.path() / "mine.yaml").string());
}

TEST_CASE("a database that is none is told, and predictions go on without it") {
  const test::TemporaryFolder folder;
  write(folder.path() / "runs.db", std::string(5000, 'x'));
  Session session;
  session.use_database(folder.path() / "runs.db");
  session.open(k_scenario);
  session.settle();
  CHECK_FALSE(session.messages().all().empty());
  CHECK(session.prediction());
}

TEST_CASE("a choice belongs to its plan") {
  Session session;
  session.open(k_scenario);
  session.settle();
  session.choose(InstructionId{12});
  CHECK(session.chosen() == InstructionId{12});
  session.set("model.sequence_length", "2048");
  session.settle();
  REQUIRE_FALSE(session.stale());
  CHECK_FALSE(session.chosen());
  session.undo();
  session.settle();
  CHECK(session.chosen() == InstructionId{12});
}

}  // namespace shardlab::gui
