// Timeline, Memory, Compare, Runs, Step player: clicked, dragged, zoomed and typed into without a window.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/store/run_store.h"
#include "tests/catch.h"
#include "tests/gui/stored_prediction.h"
#include "tests/gui/ui.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::gui;
using namespace shardlab::test;
namespace fs = std::filesystem;

namespace {

ImVec2 part_of(const ProbedItem& item, float x, float y) {
  return {static_cast<float>(static_cast<int>(item.min.x + (item.max.x - item.min.x) * x)),
          static_cast<float>(static_cast<int>(item.min.y + (item.max.y - item.min.y) * y))};
}

// For looking at: $SHARDLAB_KEEP_PICTURES names a folder.
void keep_picture(Ui& ui, const std::string& name) {
  const char* const folder = std::getenv("SHARDLAB_KEEP_PICTURES");
  if (folder != nullptr) REQUIRE_OK(write_png(ui.headless().picture(), fs::path(folder) / (name + ".png")));
}

}  // namespace

TEST_CASE("timeline: without a scenario it says what to do") {
  Ui ui("timeline");
  CHECK_FALSE(ui.shows("timeline", "timeline plot"));
}

TEST_CASE("timeline: a click chooses the instruction under the mouse, for all panels") {
  Ui ui("timeline");
  ui.open(small_scenario());
  const ProbedItem plot = ui.item("timeline", "timeline plot");
  // The middle of the compute lane, which is the first below the title and the marks of the step's parts.
  ui.click_at(part_of(plot, 0.5F, 0.42F));
  REQUIRE(ui.session().chosen());
  const Instruction& chosen =
      ui.session().prediction()->planned.plan.steady.instruction(*ui.session().chosen());
  CHECK(chosen.stream == StreamId{0});
}

TEST_CASE("timeline: the wheel zooms around the mouse, a drag pans, a button shows the whole step again") {
  Ui ui("timeline");
  ui.open(small_scenario());
  const ProbedItem plot = ui.item("timeline", "timeline plot");
  CHECK_FALSE(ui.session().selection().visible_time());
  for (int i = 0; i < 6; ++i) ui.wheel(part_of(plot, 0.25F, 0.5F), 1);
  REQUIRE(ui.session().selection().visible_time());
  const TimeRange zoomed = *ui.session().selection().visible_time();
  const Nanoseconds end = ui.session().predicted_run()->record.trace.steps[0].ranks[0].duration;
  CHECK(zoomed.end - zoomed.begin < end);
  CHECK(zoomed.begin.value < end.value / 4);  // what was under the mouse stays there
  CHECK(zoomed.end.value > end.value / 4);
  ui.drag(part_of(plot, 0.6F, 0.5F), part_of(plot, 0.4F, 0.5F));
  INFO(zoomed.begin.value << " " << zoomed.end.value << " of " << end.value);
  const TimeRange panned = *ui.session().selection().visible_time();
  INFO(panned.begin.value << " " << panned.end.value);
  CHECK(panned.begin > zoomed.begin);
  CHECK(std::abs((panned.end - panned.begin).value - (zoomed.end - zoomed.begin).value) < 1000);
  ui.click("timeline", "Whole step");
  CHECK_FALSE(ui.session().selection().visible_time());
}

TEST_CASE("timeline: what is chosen elsewhere comes into view") {
  Ui ui("timeline");
  ui.open(small_scenario());
  ui.session().selection().show_time(TimeRange{Nanoseconds{0}, Nanoseconds{1000}});
  ui.frames(2);
  const auto& spans = ui.session().predicted_run()->record.trace.steps[0].ranks[0].spans;
  ui.session().choose(spans.back().instruction);
  ui.frames(3);
  const TimeRange seen = *ui.session().selection().visible_time();
  CHECK(seen.begin <= spans.back().start);
  CHECK(seen.end >= spans.back().end);
}

TEST_CASE("timeline: the arrows go from place to place of a layer, and of exposed communication") {
  Ui ui("timeline");
  ui.open(small_scenario());
  CHECK_FALSE(ui.session().selection().visible_time());
  ui.click("timeline", "##next place");
  REQUIRE(ui.session().selection().visible_time());
  const TimeRange exposed = *ui.session().selection().visible_time();
  ui.click("timeline", "##jump to");
  ui.click("", "layer");
  ui.click("timeline", "##next place");
  const TimeRange forward = *ui.session().selection().visible_time();
  CHECK_FALSE(forward == exposed);
  ui.click("timeline", "##next place");
  const TimeRange backward = *ui.session().selection().visible_time();
  CHECK(backward.begin > forward.begin);
  ui.click("timeline", "##previous place");
  CHECK(*ui.session().selection().visible_time() == forward);
}

TEST_CASE("timeline: a plot is saved as a picture beside the scenario") {
  const TemporaryFolder folder;
  Ui ui("timeline");
  ui.session().open_text(small_scenario(), folder.path() / "test.yaml");
  ui.settle();
  ui.click("timeline", "Save PNG");
  ui.frames(2);
  const fs::path file = folder.path() / "timeline.png";
  REQUIRE(fs::exists(file));
  std::ifstream stream(file, std::ios::binary);
  std::string magic(4, '\0');
  stream.read(magic.data(), 4);
  CHECK(magic == "\x89PNG");
}

TEST_CASE("memory: a click chooses the instruction at that time, and its buffers are listed") {
  Ui ui("memory");
  ui.open(small_scenario());
  const ProbedItem plot = ui.item("memory", "memory of tiny-llama fsdp2, predicted");
  ui.click_at(part_of(plot, 0.3F, 0.5F));
  REQUIRE(ui.session().chosen());
  const auto first = *ui.session().chosen();
  ui.click_at(part_of(plot, 0.7F, 0.5F));
  CHECK(*ui.session().chosen() > first);
  CHECK(ui.items_of("memory").find("Copy CSV") != std::string::npos);
}

TEST_CASE("memory: the time axis is shared with the timeline, and buffers can be hidden and copied") {
  Ui ui("memory");
  ui.open(small_scenario());
  ui.session().selection().show_time(TimeRange{Nanoseconds{0}, Nanoseconds{5'000'000}});
  ui.frames(2);
  const ProbedItem plot = ui.item("memory", "memory of tiny-llama fsdp2, predicted");
  ui.wheel(part_of(plot, 0.5F, 0.5F), 1);
  CHECK((ui.session().selection().visible_time()->end).value < 5'000'000);
  ui.click("memory", "Copy CSV");
  const std::string csv = ImGui::GetClipboardText();
  CHECK(csv.substr(0, 10) == "what,class");
  ui.click("memory", "Hide buffers");
  CHECK_FALSE(ui.shows("memory", "Copy CSV"));
  ui.click("memory", "Show buffers");
  CHECK(ui.shows("memory", "Copy CSV"));
}

TEST_CASE("memory: what is alive is added up in words, or listed buffer by buffer") {
  Ui ui("memory");
  ui.open(small_scenario());
  ui.click("memory", "Copy CSV");
  CHECK(std::string(ImGui::GetClipboardText()).find("parameter shards of ") != std::string::npos);
  ui.click("memory", "##form");
  ui.click("", "each buffer");
  ui.frames(2);
  ui.click("memory", "Copy CSV");
  CHECK(std::string(ImGui::GetClipboardText()).find(",shard.u0,") != std::string::npos);
  CHECK_FALSE(ui.shows("memory", "Spaces and transfers"));  // all of it is on one device
}

TEST_CASE("memory: what lies outside the device has a curve and tables of its own") {
  Ui ui("memory", {1200, 1200});
  ui.open(R"(name: offloading
model: {config: tiny-llama, sequence_length: 64}
cluster: {gpu: H100-SXM, gpus_per_node: 2}
parallel: {strategy: fsdp2}
offload: {parameters: cpu}
)");
  INFO((ui.session().problem() ? to_string(*ui.session().problem()) : std::string()));
  REQUIRE(ui.session().prediction());
  CHECK(ui.shows("memory", "memory elsewhere"));
  ui.click("memory", "Spaces and transfers");
  ui.frames(2);
  CHECK(ui.shows("memory", "pinned host"));
}

TEST_CASE("memory and timeline: in the default layout a time stands at one place in both, at every scale") {
  const StoredPrediction stored;
  Ui ui({}, {2880, 1800});
  ui.session().use_database(stored.file());
  ui.open(small_scenario());
  const auto check_edges = [&ui] {
    ui.frames(4);
    const ProbedItem memory = ui.item("memory", "memory of tiny-llama fsdp2, predicted");
    const ProbedItem timeline = ui.item("timeline", "timeline plot");
    CHECK(memory.min.x == Approx(timeline.min.x).margin(1));
    CHECK(memory.max.x == Approx(timeline.max.x).margin(1));
    CHECK(memory.max.x - memory.min.x > 100);
  };
  for (const double scale : {1.0, 2.0, 1.25}) {
    INFO(scale);
    ui.session().preferences().scale = scale;
    check_edges();
  }
  // With several runs one of the panels has to be scrolled, the other has not.
  ui.session().selection().choose_runs({RunId{1}, RunId{2}});
  ui.settle();
  check_edges();
  // Alone on its side, a plot takes the room that its own labels need.
  const float with_both = ui.item("timeline", "timeline plot").min.x;
  ui.shell().show_panel("compare");
  ui.frames(6);
  CHECK(ui.item("timeline", "timeline plot").min.x <= with_both);
}

TEST_CASE("runs: the list is filtered, a run is chosen, tagged and noted") {
  const StoredPrediction stored;
  Ui ui("runs");
  ui.session().use_database(stored.file());
  ui.settle();
  CHECK(ui.shows("runs", "r1"));
  ui.click("runs", "##filter");
  ui.type("r2");
  ui.frames(3);
  CHECK_FALSE(ui.shows("runs", "r1"));
  ui.click("runs", "r2");
  CHECK(ui.session().selection().runs() == std::vector<RunId>{RunId{2}});
  ui.enter("runs", "##new tag", "checked");
  ui.enter("runs", "##note", "looks right");
  ui.settle();
  const RunEntry& entry = ui.session().runs().view().runs->front();
  CHECK(entry.tags == std::vector<std::string>{"checked"});
  CHECK(entry.note == "looks right");
  ui.click("runs", "checked x");
  ui.settle();
  CHECK(ui.session().runs().view().runs->front().tags.empty());
}

TEST_CASE("runs: the trend pairs measured runs with their predictions") {
  const StoredPrediction stored(/*measured=*/true);
  Ui ui("runs");
  ui.session().use_database(stored.file());
  ui.settle();
  ui.click("runs", "Trend");
  ui.frames(3);
  keep_picture(ui, "runs-trend");
  CHECK_FALSE(ui.shows("runs", "r1"));
}

TEST_CASE("runs: a click on a header sorts") {
  const StoredPrediction stored;
  Ui ui("runs");
  ui.session().use_database(stored.file());
  ui.settle();
  const float before = ui.item("runs", "r1").min.y;
  ui.click("runs", "run");
  ui.click("runs", "run");
  CHECK(ui.item("runs", "r1").min.y < before);
}

TEST_CASE("runs: a database that vanishes is told in the panel, and its runs stay") {
  const StoredPrediction stored;
  Ui ui("runs");
  ui.session().use_database(stored.file());
  ui.settle();
  fs::remove(stored.file());
  ui.settle();
  CHECK(ui.session().runs().view().trouble);
  CHECK(ui.shows("runs", "r1"));
  std::ofstream(stored.file()) << "this is no database at all, but it is long enough to be looked at";
  ui.settle();
  CHECK(ui.session().runs().view().trouble);
  ui.frames(5);
}

TEST_CASE("compare: two runs of one plan down to the instruction") {
  const StoredPrediction stored;
  Ui ui("compare");
  ui.session().use_database(stored.file());
  ui.open(small_scenario());
  CHECK_FALSE(ui.shows("compare", "Totals"));
  ui.session().selection().choose_runs({RunId{2}});
  ui.settle();
  CHECK(ui.shows("compare", "step time"));
  for (const char* tab : {"Memory", "Kinds", "Units"}) {
    ui.click("compare", tab);
    ui.click("compare", "Copy CSV");
    CHECK(std::string(ImGui::GetClipboardText()).find("tiny-llama fsdp2, predicted") != std::string::npos);
  }
  ui.click("compare", "Instructions");
  ui.frames(3);
  CHECK(ui.shows("compare", "scatter"));
  keep_picture(ui, "compare-instructions");
  // The list of the worst: a click chooses the instruction everywhere.
  const std::string worst = ui.items_of("compare");
  const std::size_t at = worst.find("/worst");
  REQUIRE(at != std::string::npos);
  // The headings come first, then the rows by their first cell.
  const std::size_t row = worst.find("| ", worst.find("| why", at) + 2) + 2;
  ui.click("compare", worst.substr(row, worst.find('\n', row) - row));
  CHECK(ui.session().selection().instruction());
}

TEST_CASE("a panel that is covered while its thread works is not busy for ever") {
  const StoredPrediction stored;
  Ui ui;
  ui.session().use_database(stored.file());
  ui.session().selection().choose_runs({RunId{1}, RunId{2}});
  ui.open(small_scenario());
  for (const char* panel : {"compare", "memory", "runs", "timeline", "player"}) {
    ui.shell().show_panel(panel);
    ui.frames(2);
  }
  for (int i = 0; i < 1000 && ui.shell().busy(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ui.frames(1);
  }
  CHECK_FALSE(ui.shell().busy());
}

TEST_CASE("player: steps, plays to the end, and chooses what it shows") {
  Ui ui("player");
  ui.open(small_scenario());
  ui.click("player", "Step");
  ui.click("player", "Step");
  CHECK(ui.session().chosen() == InstructionId{1});
  ui.click("player", "Back");
  CHECK(ui.session().chosen() == InstructionId{0});
  ui.click("player", "Play");
  ui.frames(120);  // two seconds of four instructions
  CHECK(ui.session().chosen() >= InstructionId{6});
  ui.click("player", "Pause");
  const auto paused = ui.session().chosen();
  ui.frames(60);
  CHECK(ui.session().chosen() == paused);
  ui.session().choose(InstructionId{50});
  ui.frames(2);
  ui.click("player", "Step");
  CHECK(ui.session().chosen() == InstructionId{51});
}

TEST_CASE("memory: of two runs neither chart is cut") {
  Ui ui;
  ui.open(small_scenario());
  ui.session().set_baseline();
  ui.session().set("train.micro_batch", "2");
  ui.settle();
  ui.shell().show_panel("memory");
  ui.wait_for("memory", "##form");
  ui.frames(3);
  const auto seen = [&ui](const char* label) {
    const ProbedItem chart = ui.item("memory", label);
    return chart.max.y - chart.min.y;  // as far as it is visible
  };
  const float first = seen("memory of tiny-llama fsdp2, predicted");
  CHECK(first > 40);
  CHECK(seen("memory of baseline tiny-llama fsdp2, predicted") == Approx(first).margin(2));
}

TEST_CASE("player: ranks stand side by side, eight at most, and each box says what it is") {
  Ui ui("player", {1200, 640});
  ui.open(small_scenario());
  CHECK(ui.shows("player", "rank 1"));
  CHECK_FALSE(ui.shows("player", "rank 2"));
  ui.session().set("cluster.ranks", "12");
  ui.settle();
  CHECK(ui.shows("player", "rank 7"));
  CHECK_FALSE(ui.shows("player", "rank 8"));
  CHECK(ui.shows("player", "ranks 8 to 11 alike"));
  for (std::size_t i = 0; i < ui.session().prediction()->plan().instructions.size(); ++i) {
    ui.session().choose(make_id<InstructionId>(i));
    ui.session().selection().show_played(0.5);
    const ProbedItem rank = ui.item("player", i % 2 == 0 ? "rank 0" : "rank 7");
    ui.move_to(part_of(rank, 0.1F, 0.1F + 0.8F * static_cast<float>(i % 10) / 10));
    if (i % 8 == 0) keep_picture(ui, "player-" + std::to_string(i));
  }
  ui.session().set("cluster.ranks", "1");
  ui.session().set("parallel.strategy", "none");
  ui.settle();
  CHECK_FALSE(ui.shows("player", "rank 0"));  // one rank needs no name
}

TEST_CASE("monitor: nothing can be started without a scenario, and a program that is not there is told") {
  Ui ui("monitor");
  CHECK(ui.item("monitor", "Start").disabled);
  ui.open(small_scenario());
  CHECK_FALSE(ui.item("monitor", "Start").disabled);
  CHECK(ui.item("monitor", "Stop").disabled);
}

namespace {

// A shardlab that does what the test wants.
fs::path fake_program(const TemporaryFolder& folder, const std::string& script) {
  const fs::path program = folder.path() / "shardlab";
  std::ofstream(program) << "#!/bin/sh\n" << script;
  fs::permissions(program, fs::perms::owner_all);
  return program;
}

// Frames until the monitor's child has ended.
void wait_for_end(Ui& ui) {
  for (int i = 0; i < 1000 && ui.item("monitor", "Start").disabled; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ui.frames(1);
  }
  ui.frames(2);
  REQUIRE_FALSE(ui.item("monitor", "Start").disabled);
}

bool tells(Ui& ui, const std::string& part) {
  for (const Message& message : ui.session().messages().all())
    if (message.text.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("monitor: a run is followed step by step") {
  const TemporaryFolder folder;
  Ui ui("monitor");
  ui.session().open_text(small_scenario(), folder.path() / "test.yaml");
  ui.settle();
  ui.session().use_program(fake_program(folder, R"(
for i in 1 2 3 4 5; do
  figures="\"loss\":$((6 - i)).5,\"tokens_per_second\":$((900 + i)),\"peak_bytes\":83000000"
  echo "{\"event\":\"training\",\"steps_done\":$i,\"steps\":5,$figures}" >&2
done
echo '{"event":"stored","run_id":"r7","kind":"measured","plan_hash":"x"}' >&2
echo the end
)"));
  ui.click("monitor", "Start");
  wait_for_end(ui);
  CHECK(tells(ui, "stored r7"));
  CHECK(ui.session().selection().runs() == std::vector<RunId>{RunId{7}});
  ui.click("monitor", "Copy log");
  CHECK(std::string(ImGui::GetClipboardText()) == "the end\n");
  keep_picture(ui, "monitor");
  // The copy of the scenario that ran is gone with the run.
  ui.click("monitor", "Start");
  wait_for_end(ui);
}

TEST_CASE("monitor: a child that is killed is a message, and the next one can be started") {
  const TemporaryFolder folder;
  Ui ui("monitor");
  ui.session().open_text(small_scenario(), folder.path() / "test.yaml");
  ui.settle();
  ui.session().use_program(fake_program(folder, "kill -9 $$\n"));
  ui.click("monitor", "Start");
  wait_for_end(ui);
  CHECK(tells(ui, "it was killed"));
  keep_picture(ui, "monitor-killed");
  ui.session().use_program(fake_program(folder, "exec sleep 100\n"));
  ui.click("monitor", "Start");
  ui.frames(3);
  CHECK(ui.item("monitor", "Start").disabled);
  ui.click("monitor", "Stop");
  wait_for_end(ui);
  ui.session().use_program("/no/such/program");
  ui.click("monitor", "Start");
  ui.frames(2);
  CHECK(tells(ui, "cannot be started"));
}
