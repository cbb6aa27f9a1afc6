#include "gui/session/session.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "engine/base/output_file.h"
#include "engine/scenario/train_spec.h"
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
  REQUIRE_OK(write_output_file(file, text));
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

TEST_CASE("what single keys would change comes after a prediction, and is made by one change") {
  Session session;
  REQUIRE(session.open(k_scenario));
  session.settle();
  const auto find = [&](std::string_view setting) -> const Alternative* {
    for (const Alternative& each : session.alternatives())
      if (each.setting == setting) return &each;
    return nullptr;
  };
  REQUIRE(find("model.implementation=fused") != nullptr);
  const Alternative fused = *find("model.implementation=fused");
  REQUIRE(session.set("model.implementation", "fused"));
  session.settle();
  CHECK(session.prediction()->summary().memory->peak_allocated == fused.peak_allocated);
  CHECK(session.prediction()->summary().step_time.median == fused.step_time);
  CHECK(session.prediction()->summary().tokens_per_second == fused.tokens_per_second);
  CHECK(find("model.implementation=fused") == nullptr);
}

TEST_CASE("of many quick changes only the last is shown, never an older one") {
  Session session;
  session.open(k_scenario);
  session.settle();
  for (int i = 2; i <= 40; ++i) {
    session.set("train.micro_batch", std::to_string(i));
    session.update(i * 0.01);
    if (!session.stale()) CHECK(session.prediction()->planned.scenario.train->micro_batch == i);
  }
  session.settle();
  CHECK_FALSE(session.stale());
  CHECK(session.prediction()->planned.scenario.train->micro_batch == 40);
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
    "a file that turns invalid on disk gives a problem, one that disappears a warning, and both can come "
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
  const std::string kept = session.document().text();
  fs::remove(file);
  session.update(20);
  CHECK(tells(session, "s.yaml is not on disk any more"));
  CHECK(session.document().text() == kept);
  write(file, text_of(k_scenario));
  session.update(30);
  session.settle();
  CHECK_FALSE(tells(session, "not on disk"));
  CHECK_FALSE(session.problem());
  CHECK_FALSE(session.stale());
}

TEST_CASE("a file that cannot be read any more is told, and the text stays and can be saved again") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "s.yaml";
  write(file, text_of(k_scenario));
  Session session;
  REQUIRE(session.open(file));
  session.settle();
  const std::string kept = session.document().text();
  write(file, std::string(300 << 10, '#'));
  session.update(10);
  CHECK(
      tells(session,
            "is larger than 256 KiB, not a text of a scenario or a model since another program changed it"));
  write(file, std::string("name: a\0b", 9));
  session.update(20);
  CHECK(tells(session, "is no text since another program changed it"));
  fs::remove(file);
  fs::create_directory(file);
  session.update(30);
  CHECK(tells(session, "is a folder, not a text of a scenario or a model since another program changed it"));
  CHECK(session.document().text() == kept);
  CHECK_FALSE(session.save());
  fs::remove(file);
  CHECK(session.save());
  session.update(40);
  session.settle();
  CHECK(text_of(file) == kept);
  CHECK_FALSE(session.stale());
  CHECK_FALSE(tells(session, "another program"));
}

TEST_CASE("another program saves what is here: no edit is left, and nothing is warned of") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "s.yaml";
  write(file, text_of(k_scenario));
  Session session;
  REQUIRE(session.open(file));
  session.set("train.micro_batch", "2");
  write(file, session.document().text());
  session.update(10);
  CHECK_FALSE(session.document().changed());
  CHECK_FALSE(tells(session, "changed by another program"));
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
  CHECK(tells(session, "is larger than 256 KiB"));
  CHECK(session.documents_opened() == 0);
}

TEST_CASE("odd files that are dropped are messages, and nothing that is open goes away") {
  const test::TemporaryFolder folder;
  const auto made = [&](const char* name, const std::string& text) {
    write(folder.path() / name, text);
    return folder.path() / name;
  };
  const auto folder_called = [&](const char* name) {
    fs::create_directory(folder.path() / name);
    return folder.path() / name;
  };
  std::string rubbish(4096, '\0');
  for (std::size_t i = 0; i < rubbish.size(); ++i) rubbish[i] = static_cast<char>(i * 2654435761U >> 13);
  const fs::path pipe = folder.path() / "pipe.json";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const fs::path huge = made("huge.json", "{}");
  fs::resize_file(huge, std::uintmax_t{1} << 33);  // without blocks behind it
  const std::vector<std::pair<fs::path, std::string>> odd = {
      {folder_called("a-folder"), "nothing that the window can open"},
      {folder_called("folder.yaml"), "is a folder"},
      {folder_called("folder.json"), "is a folder"},
      {made("empty.json", ""), "nothing that the window can open"},
      {made("empty.json.gz", ""), "nothing that the window can open"},
      {made("rubbish.yaml", rubbish), "is no text"},
      {made("rubbish.json", rubbish), "is no text"},
      {made("latin1.yaml", "name: caf\xe9\n"), "is no text"},
      {made("no-config.json", "[1, 2"), "nothing that the window can open"},
      {pipe, "is a pipe"},
      {huge, "is larger than 256 KiB"},
  };
  Session session;
  REQUIRE(session.open(k_scenario));
  session.settle();
  for (const auto& [file, words] : odd) {
    INFO(file);
    CHECK_FALSE(session.open_any({file}));
    CHECK(tells(session, words));
    session.messages().clear("file");
  }
  CHECK(session.document().text() == text_of(k_scenario));
  CHECK_FALSE(session.problem());
}

TEST_CASE("odd files that are opened all the same give a problem in words") {
  const test::TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> odd = {
      {"empty.yaml", ""},
      {"list.yaml", "- 1\n- 2\n"},
      {"deep.yaml", std::string(100'000, '[')},
      {"deep-map.yaml", "a: " + std::string(50'000, '{')},
      {"anchors.yaml", "a: &a [1]\nb: *c\n"},
      {"bomb.yaml", "a: &a [x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n"},
      {"tabs.yaml", "\tname: x\n"},
      {"config.json", R"({"model_type": "perceiver", "hidden_size": 8})"},
      {"numbers.json", R"({"model_type": "llama", "hidden_size": 1e999, "num_hidden_layers": -3})"},
      {"deep.json", R"({"model_type": "llama", "x": )" + std::string(100'000, '[')},
  };
  for (const auto& [name, text] : odd) {
    INFO(name);
    write(folder.path() / name, text);
    Session session;
    if (session.open_any({folder.path() / name})) {
      session.settle();
      REQUIRE(session.problem());
      CHECK_FALSE(what_text(*session.problem()).empty());
      CHECK_FALSE(session.prediction());
    } else {
      CHECK_FALSE(session.messages().all().empty());
    }
  }
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

TEST_CASE("a database that was not made yet is no trouble, nor is one whose file is there and still empty") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  Session session;
  session.use_database(file);
  session.settle();
  CHECK(session.runs().view().trouble);
  CHECK(session.messages().all().empty());
  write(file, "");  // another program is making it; it was looked for before and is told after
  session.update(1);
  CHECK(session.messages().all().empty());
  session.runs().reader()->settle();
  session.update(2);
  CHECK(session.runs().view().trouble);
  CHECK(session.messages().all().empty());
}

TEST_CASE("trouble that was dismissed is not told again and again, another one is") {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  write(file, std::string(5000, 'x'));
  Session session;
  session.use_database(file);
  session.settle();
  REQUIRE(tells(session, "is not a database"));
  while (!session.messages().all().empty()) session.messages().dismiss(0);
  for (int i = 0; i < 3; ++i) {
    session.runs().reader()->settle();
    session.settle();
  }
  CHECK(session.messages().all().empty());
  fs::remove(file);
  fs::create_directory(file);
  session.settle();
  CHECK(tells(session, "this is a folder"));
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
