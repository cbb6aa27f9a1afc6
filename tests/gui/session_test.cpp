// A session as a user would have it, through the whole window: change settings until they do not fit and then
// fit, train for real on two ranks, see the measurement beside the prediction, save, undo everything.
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/base/output_file.h"
#include "gui/session/run_start.h"
#include "gui/session/text_file.h"
#include "tests/catch.h"
#include "tests/gui/ui.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::gui;
using namespace shardlab::test;
namespace fs = std::filesystem;

namespace {

#ifdef SHARDLAB_TEST_REAL_RUNS
constexpr bool k_real_runs = true;
#else
constexpr bool k_real_runs = false;
#endif

constexpr const char* k_scenario = R"(name: session
model:
  config: tiny-llama
  sequence_length: 32
  overrides: {hidden_size: 64, intermediate_size: 96, num_hidden_layers: 2, num_attention_heads: 4,
              num_key_value_heads: 2}
cluster: {device: cpu, ranks: 2, memory_limit: 4MiB}
parallel: {strategy: fsdp2}
train: {micro_batch: 2, learning_rate: 1e-3, clip_norm: 1.0, data: assets/data/licenses.txt}
measure: {warmup_steps: 1, steps: 3}
)";

// Ranks that were started by this process: their command line names it (--parent).
int processes_with(int parent) {
  int count = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    std::ifstream stream(entry.path() / "cmdline", std::ios::binary);
    const std::string line{std::istreambuf_iterator<char>(stream), {}};
    const std::string wanted = std::string("--parent") + '\0' + std::to_string(parent) + '\0';
    if (line.find(wanted) != std::string::npos) ++count;
  }
  return count;
}

bool fits(Ui& ui) {
  ui.settle();
  INFO((ui.session().problem() ? to_string(*ui.session().problem()) : std::string()));
  REQUIRE(ui.session().prediction());
  REQUIRE_FALSE(ui.session().stale());
  REQUIRE(ui.session().prediction()->summary().fits);
  return *ui.session().prediction()->summary().fits != Fit::no;
}

void enter_micro_batch(Ui& ui, const char* value) {
  ui.shell().show_panel("scenario");
  ui.frames(3);
  ui.enter("scenario", "##search settings", "train.micro_batch");
  ui.frames(2);
  ui.enter("scenario", "##train.micro_batch", value);
}

// Trains in a child process; the window goes on drawing.
void train(Ui& ui) {
  ui.shell().show_panel("monitor");
  ui.frames(3);
  ui.click("monitor", "##what");
  ui.click("", "run: train for real");
  ui.click("monitor", "Start");
  for (int i = 0; i < 12'000 && ui.item("monitor", "Start").disabled; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ui.frames(1);
  }
  for (const Message& message : ui.session().messages().all()) {
    if (message.kind == MessageKind::error) FAIL(message.text << " (" << message.hint << ")");
  }
  ui.settle();
}

void look_at_the_measurement(Ui& ui) {
  const auto shown = ui.session().shown_runs();
  REQUIRE(shown.size() == 2);
  CHECK(shown[0]->kind() == RunKind::predicted);
  CHECK(shown[1]->kind() == RunKind::measured);
  CHECK(shown[1]->record.summary.plan_hash == shown[0]->record.summary.plan_hash);
  ui.shell().show_panel("compare");
  ui.wait_for("compare", "step time");
  CHECK(ui.shows("compare", "step time"));
  ui.wait_for("compare", "Instructions");
  ui.click("compare", "Instructions");
  ui.wait_for("compare", "scatter");
  CHECK(ui.shows("compare", "scatter"));
  CHECK(ui.items_of("compare").find("/worst") != std::string::npos);
}

}  // namespace

TEST_CASE("a real run that is killed is a message, and takes no rank along as an orphan") {
  if (!k_real_runs) {
    WARN("without libtorch there is no real run to kill");
    return;
  }
  const TemporaryFolder folder;
  std::string text = k_scenario;
  text.replace(text.find("steps: 3"), 8, "steps: 100000");
  auto started = start_run(Document(text, folder.path() / "long.yaml"), view::JobKind::run,
                           folder.path() / "runs.db", programs_folder() / "shardlab");
  REQUIRE_OK(started);
  view::Job& job = *started->job;
  for (int i = 0; i < 3000 && job.output().steps_done == 0 && !job.ended(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    job.poll();
  }
  REQUIRE(job.output().steps_done > 0);
  CHECK(processes_with(job.process()) == 2);
  REQUIRE(::kill(job.process(), SIGKILL) == 0);
  for (int i = 0; i < 3000 && !job.ended(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    job.poll();
  }
  REQUIRE(job.trouble());
  CHECK(job.trouble()->what == "it was killed");
  for (int i = 0; i < 1000 && processes_with(job.process()) > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(processes_with(job.process()) == 0);
  CHECK_FALSE(fs::exists(folder.path() / "runs.db-journal"));
}

TEST_CASE("a session: it does not fit, it fits, it is trained, compared, saved and undone") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "session.yaml";
  REQUIRE_OK(write_output_file(file, k_scenario));
  Ui ui;
  ui.session().use_program(programs_folder() / "shardlab");
  ui.session().use_database(folder.path() / "runs.db");
  REQUIRE(ui.session().open(file));
  CHECK(fits(ui));

  REQUIRE(ui.session().set("parallel.strategy", "ddp"));
  CHECK(fits(ui));
  enter_micro_batch(ui, "16");
  CHECK_FALSE(fits(ui));
  enter_micro_batch(ui, "4");
  CHECK(fits(ui));
  CHECK(ui.session().prediction()->plan().strategy == "ddp");

  if (k_real_runs) {
    train(ui);
    look_at_the_measurement(ui);
  } else {
    WARN("without libtorch no real run: training and its comparison are left out");
  }

  ui.press(ImGuiMod_Ctrl | ImGuiKey_S);
  ui.frames(2);
  CHECK_FALSE(ui.session().document().changed());
  const auto saved = read_text_file(file);
  REQUIRE_OK(saved);
  CHECK_THAT(*saved, contains_text("micro_batch: 4"));
  CHECK_THAT(*saved, contains_text("strategy: ddp"));
  for (int i = 0; i < 10 && ui.session().document().can_undo(); ++i) ui.press(ImGuiMod_Ctrl | ImGuiKey_Z);
  CHECK(ui.session().document().text() == k_scenario);
  CHECK(fits(ui));
  CHECK(ui.session().prediction()->plan().strategy == "fsdp2");
}
