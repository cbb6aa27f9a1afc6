#include <algorithm>
#include <fstream>

#include "gui/view_model/exports/export_view.h"
#include "gui/view_model/exports/standing_file.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::view {
namespace {

namespace fs = std::filesystem;
using test::contains_text;

// Sharded by FSDP2 over eight GPUs; its reduction in 32 bits is what accelerate's file cannot say.
const std::string k_scenario = R"(name: eight
model: {config: llama-3.2-1b, sequence_length: 512}
cluster: {node: hgx-h100, nodes: 1}
parallel: {strategy: fsdp2}
precision: {param: bfloat16, reduce: float32}
train: {micro_batch: 2, accumulation: 2}
)";

PreparedExport prepared(const std::string& target, const std::string& text = k_scenario) {
  return prepare_export({text, "eight.yaml", target, {}, ""});
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string shown(const std::vector<DiffLine>& lines) {
  std::string text;
  for (const DiffLine& line : lines)
    text += (line.kind == DiffLine::Kind::added     ? '+'
             : line.kind == DiffLine::Kind::removed ? '-'
                                                    : ' ') +
            line.text + "\n";
  return text;
}

}  // namespace

TEST_CASE("every target of the command line is offered, and says why it cannot run a scenario") {
  const PreparedExport made = prepared("");
  REQUIRE_FALSE(made.error);
  REQUIRE(made.targets.size() == export_targets().size());
  CHECK(made.made.target->name == "accelerate");  // the first that can
  const auto deepspeed = std::find_if(made.targets.begin(), made.targets.end(),
                                      [](const OfferedTarget& each) { return each.name == "deepspeed"; });
  REQUIRE(deepspeed != made.targets.end());
  CHECK_FALSE(deepspeed->refusal.empty());
  CHECK(prepared("deepspeed").made.refusal.why == deepspeed->refusal);
  CHECK(prepared("deepspeed").made.files.empty());
}

TEST_CASE("a loss is shown with its reason, and what it and the files cost beside the scenario") {
  const PreparedExport made = prepared("accelerate");
  REQUIRE_FALSE(made.error);
  const ExportView view = view_export(made.made);
  REQUIRE(view.lost.size() == 1);
  const DifferenceLine& loss = view.lost.front();
  CHECK(loss.setting == "precision.reduce");
  CHECK(loss.change == "float32 -> bfloat16");
  CHECK_FALSE(loss.why.empty());
  CHECK_THAT(loss.effect, contains_text("step ") && contains_text("peak ") && contains_text(" %"));
  REQUIRE(view.steps.rows.size() == 2);
  const auto& files = view.steps.rows[1].cells;
  CHECK(files[1].number == static_cast<double>(made.made.run->step_time.value));
  const double change = *files[1].number / *view.steps.rows[0].cells[1].number - 1;
  CHECK(std::abs(*files[2].number - change) < 1e-12);
  CHECK_FALSE(view.elsewhere.empty());
}

TEST_CASE("an accepted loss is one of a value: another value is not accepted") {
  AcceptedLosses accepted;
  const ExportView view = view_export(prepared("accelerate").made);
  CHECK(accepted.missing(view.lost) == 1);
  accepted.set(view.lost.front(), true);
  CHECK(accepted.missing(view.lost) == 0);
  std::string other = k_scenario;
  other.replace(other.find("reduce: float32"), 15, "reduce: float16");
  const ExportView changed = view_export(prepared("accelerate", other).made);
  CHECK(accepted.missing(changed.lost) == changed.lost.size());
  CHECK_FALSE(changed.lost.empty());
  accepted.set(view.lost.front(), false);
  CHECK(accepted.missing(view.lost) == 1);
}

TEST_CASE("a scenario with a mistake gives that, one that is not built gives files without a prediction") {
  const PreparedExport wrong = prepared("", "model: {config: llama-3.2-1b, sequence_length: 0}\n");
  REQUIRE(wrong.error);
  CHECK_THAT(to_string(*wrong.error), contains_text("sequence_length"));
  CHECK(prepared("", "train: [").error);
  const PreparedExport torchrun = prepared("torchrun");
  CHECK_FALSE(torchrun.error);
  CHECK_FALSE(torchrun.made.files.empty());
}

TEST_CASE("files are laid beside what stands on disk, and written in its place alone") {
  const test::TemporaryFolder folder;
  const PreparedExport made = prepared("accelerate");
  REQUIRE(made.made.files.size() == 1);
  const fs::path file = folder.path() / made.made.files.front().name;
  auto looked = look_at_standing(made.made.files, folder.path());
  CHECK(standing_words(looked.front()) == "is not there yet");
  REQUIRE_OK(write_over_standing(made.made, folder.path(), looked));
  CHECK(text_of(file) == made.made.files.front().text);
  looked = look_at_standing(made.made.files, folder.path());
  CHECK(looked.front().difference.empty());

  std::string changed = made.made.files.front().text;
  changed.replace(changed.find("num_processes: 8"), 16, "num_processes: 4\n# mine\x1b[31m");
  std::ofstream(file) << changed;
  // It is another one than was compared: nothing is written.
  const Status refused = write_over_standing(made.made, folder.path(), looked);
  REQUIRE_FALSE(refused);
  CHECK_THAT(to_string(refused.error()), contains_text("another one than was compared"));
  CHECK(text_of(file) == changed);
  looked = look_at_standing(made.made.files, folder.path());
  CHECK(looked.front().added == 1);
  CHECK(looked.front().removed == 2);
  CHECK_THAT(shown(looked.front().difference),
             contains_text("-num_processes: 4\n-# mine\\u001b[31m\n+num_processes: 8\n"));
  REQUIRE_OK(write_over_standing(made.made, folder.path(), looked));
  CHECK(text_of(file) == made.made.files.front().text);
}

TEST_CASE("what stands in the way and is no file is told, and stays") {
  const test::TemporaryFolder folder;
  const PreparedExport made = prepared("accelerate");
  fs::create_directory(folder.path() / made.made.files.front().name);
  const auto looked = look_at_standing(made.made.files, folder.path());
  REQUIRE(looked.front().trouble);
  CHECK_THAT(standing_words(looked.front()), contains_text("is a folder"));
  CHECK_FALSE(write_over_standing(made.made, folder.path(), looked));
}

TEST_CASE("a text that has nothing in common is replaced as a whole, and the end of the last line counts") {
  const test::TemporaryFolder folder;
  std::string other;
  for (int i = 0; i < 2000; ++i) other += "line " + std::to_string(i) + "\n";
  std::ofstream(folder.path() / "a") << other;
  std::ofstream(folder.path() / "b") << "same";
  const auto looked = look_at_standing({{"a", "x\ny\n"}, {"b", "same\n"}}, folder.path());
  CHECK(looked[0].removed == 2001);
  CHECK(looked[0].added == 3);
  CHECK(looked[1].added == 1);
  CHECK(shown(looked[1].difference) == " same\n+\n");
}

}  // namespace shardlab::view
