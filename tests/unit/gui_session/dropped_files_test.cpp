// What is dropped on the window, and configurations of other tools that become the scenario.
#include "gui/session/dropped_files.h"

#include <fstream>

#include "engine/scenario/read_scenario.h"
#include "gui/session/session.h"
#include "gui/session/text_file.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::gui {
namespace {

namespace fs = std::filesystem;
using test::contains_text;
using test::data_file;
using test::TemporaryFolder;

fs::path made(const TemporaryFolder& folder, const char* name, const std::string& text) {
  std::ofstream(folder.path() / name) << text;
  return folder.path() / name;
}

std::string told(Session& session) {
  std::string text;
  for (const Message& message : session.messages().all()) text += message.text + " (" + message.hint + ")\n";
  return text;
}

// A file NAME.ext, or a folder of files that are one case, beside NAME.scenario.yaml.
std::vector<fs::path> files_of(const fs::path& scenario) {
  const std::string file = scenario.filename().string();
  const std::string name = file.substr(0, file.find('.'));
  std::vector<fs::path> files;
  const fs::path folder = scenario.parent_path() / name;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::is_directory(folder) ? folder : scenario.parent_path())) {
    const std::string each = entry.path().filename().string();
    if (fs::is_directory(folder) ||
        (each.starts_with(name + ".") && !each.ends_with(".scenario.yaml") && !each.ends_with(".warnings")))
      files.push_back(entry.path());
  }
  return files;
}

}  // namespace

TEST_CASE("files that are dropped are known by what they hold") {
  const TemporaryFolder folder;
  const auto kind = [](const fs::path& file) { return examine_dropped(file).kind; };
  CHECK(kind(data_file("profiler/cuda_rank0.json")) == DroppedKind::trace);
  CHECK(kind(made(folder, "config.json", R"({"model_type": "llama"})")) == DroppedKind::model);
  CHECK(kind(folder.path() / "runs.db") == DroppedKind::database);
  CHECK(kind(made(folder, "train.log", "step 1\ntorchrun train.py\n")) == DroppedKind::log);
  CHECK(kind(made(folder, "start", "#!/bin/bash\ntorchrun train.py\n")) == DroppedKind::configuration);
  CHECK(kind(made(folder, "job.sbatch", "#SBATCH --nodes 2\n")) == DroppedKind::configuration);
  CHECK(kind(made(folder, "kept.txt", "cluster: {device: cpu}\n")) == DroppedKind::scenario);
  // A scenario that lacks its model is one all the same, with a mistake.
  CHECK(kind(made(folder, "half.yaml", "optimizer: {}\nparallel: {strategy: zero3}\n")) ==
        DroppedKind::scenario);
  CHECK(kind(made(folder, "broken.yaml", "distributed_type: [FSDP\n")) == DroppedKind::scenario);
  CHECK(kind(made(folder, "letter.json", "Dear reader")) == DroppedKind::unknown);
  CHECK(kind(folder.path()) == DroppedKind::unknown);
  const DroppedFile broken =
      examine_dropped(made(folder, "ds.json", "{\"zero_optimization\": {\"stage\": 3,}"));
  CHECK(broken.kind == DroppedKind::unknown);
  REQUIRE(broken.mistake);
  CHECK(broken.mistake->place.line == 1);
}

TEST_CASE("every scenario that ships is one") {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(test::source_folder() / "scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    INFO(entry.path());
    CHECK(examine_dropped(entry.path()).kind == DroppedKind::scenario);
    ++count;
  }
  CHECK(count > 20);
}

TEST_CASE("configurations of other tools become the scenario that import makes of them, with undo") {
  std::size_t count = 0;
  Session session;
  REQUIRE(session.open(data_file("imports/base.yaml")));
  const std::string before = session.document().text();
  for (const auto& entry : fs::directory_iterator(data_file("imports/good"))) {
    if (!entry.path().string().ends_with(".scenario.yaml")) continue;
    INFO(entry.path());
    while (!session.messages().all().empty()) session.messages().dismiss(0);
    REQUIRE(session.open_any(files_of(entry.path())));
    session.settle();
    INFO(told(session));
    REQUIRE(session.document().file().empty());
    CHECK(session.document().changed());
    const auto expected = parse_scenario_with_source(read_text_file(entry.path()).value(), "s.yaml");
    const auto imported = parse_scenario_with_source(session.document().text(), "s.yaml");
    REQUIRE_OK(expected);
    REQUIRE_OK(imported);
    CHECK(write_scenario(imported->scenario) == write_scenario(expected->scenario));
    session.undo();
    CHECK(session.document().text() == before);
    CHECK(session.document().file().filename() == "base.yaml");
    CHECK_FALSE(session.document().changed());
    ++count;
  }
  CHECK(count > 30);
}

TEST_CASE("a configuration with a mistake is a message with its place, and the scenario stays") {
  std::size_t count = 0;
  Session session;
  REQUIRE(session.open(data_file("imports/base.yaml")));
  const std::string before = session.document().text();
  for (const auto& entry : fs::directory_iterator(data_file("imports/bad"))) {
    if (entry.path().extension() == ".expected" || entry.is_directory()) continue;
    if (examine_dropped(entry.path()).kind == DroppedKind::scenario) continue;  // opened, with its mistakes
    INFO(entry.path());
    while (!session.messages().all().empty()) session.messages().dismiss(0);
    session.open_any({entry.path()});
    session.settle();
    CHECK(session.document().text() == before);
    REQUIRE_FALSE(session.messages().all().empty());
    CHECK(session.messages().all().back().kind == MessageKind::error);
    ++count;
  }
  CHECK(count > 50);
}

TEST_CASE("a loss and a warning are messages, and what a file does not say is asked of an open scenario") {
  const TemporaryFolder folder;
  const fs::path file = data_file("imports/good/fsdp1_trap.yaml");
  Session session;
  session.open_any({file});
  session.settle();
  CHECK(session.documents_opened() == 0);
  CHECK_THAT(told(session), contains_text("open a scenario that says it"));
  REQUIRE(session.open(data_file("imports/base.yaml")));
  session.open_any({file});
  session.settle();
  CHECK_THAT(told(session), contains_text("became a new scenario, put onto base.yaml") &&
                                contains_text("To be known of the files:"));
  CHECK(session.prediction());
}

TEST_CASE("an edit that is made while files are read is what they are put onto") {
  Session session;
  REQUIRE(session.open(data_file("imports/base.yaml")));
  REQUIRE(session.open_any({data_file("imports/good/fsdp2.yaml")}));
  REQUIRE(session.set("model.sequence_length", "256"));
  session.settle();
  session.settle();
  CHECK_THAT(session.document().text(), contains_text("sequence_length: 256"));
  CHECK(session.document().file().empty());
}

TEST_CASE("several files that are nothing are one message, and one with a mistake keeps the others out") {
  const TemporaryFolder folder;
  Session session;
  REQUIRE(session.open(data_file("imports/base.yaml")));
  CHECK_FALSE(session.open_any({made(folder, "a.json", "x"), made(folder, "b.json", "y")}));
  REQUIRE(session.messages().all().size() == 1);
  CHECK_THAT(told(session), contains_text("a.json, b.json: are nothing that the window can open"));
  session.messages().clear("file");
  CHECK_FALSE(
      session.open_any({data_file("imports/good/fsdp2.yaml"), made(folder, "ds.json", "{\"zero\": 1,, }")}));
  session.settle();
  CHECK(session.document().file().filename() == "base.yaml");
  CHECK_THAT(told(session), contains_text("ds.json:1:"));
}

TEST_CASE("undo of an import finds that its file has changed meanwhile") {
  const TemporaryFolder folder;
  const fs::path base = made(folder, "base.yaml", read_text_file(data_file("imports/base.yaml")).value());
  Session session;
  REQUIRE(session.open(base));
  session.update(1);
  REQUIRE(session.open_any({data_file("imports/good/fsdp2.yaml")}));
  session.settle();
  REQUIRE(session.document().file().empty());
  const std::string changed = read_text_file(base).value() + "# from elsewhere\n";
  std::ofstream(base) << changed;
  session.update(10);
  session.undo();
  session.update(20);
  CHECK(session.document().text() == changed);
}

}  // namespace shardlab::gui
