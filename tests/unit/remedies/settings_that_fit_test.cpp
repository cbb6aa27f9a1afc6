// What the doctor proposes against lack of memory, beside what `explain memory` proposes.
#include <algorithm>
#include <string>
#include <vector>

#include "engine/doctor/job/room.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/train_spec.h"
#include "simulator/alternatives/predict_with.h"
#include "simulator/alternatives/settings_to_try.h"
#include "simulator/remedies/examine_with_remedies.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/alternatives/predicted_scenario.h"

namespace shardlab {
namespace {

// A scenario whose memory does not suffice, and the finding that says what would make it fit.
struct Examined {
  PlannedScenario planned;
  RunSummary run;
  Finding finding;
};

Examined examined_of(const ReadScenario& read) {
  test::PredictedScenario made = test::predicted_scenario(read.scenario);
  const JobFacts job = {.scenario = &made.planned.scenario,
                        .source = &read.source,
                        .device = &made.device,
                        .planned = &made.planned,
                        .predicted = &made.run,
                        .trace = &made.trace};
  const auto examination = examine_with_remedies(job, nullptr, {});
  REQUIRE_OK(examination);
  const auto found = std::find_if(examination->findings.begin(), examination->findings.end(),
                                  [](const Finding& each) { return each.takes_all_remedies; });
  REQUIRE(found != examination->findings.end());
  return {std::move(made.planned), std::move(made.run), *found};
}

Examined examine_file(const std::string& file, const std::vector<std::string>& settings = {}) {
  const auto read = read_scenario_with_source((test::source_folder() / file).string(), settings);
  REQUIRE_OK(read);
  return examined_of(*read);
}

Examined examine_text(const std::string& text) {
  const auto read = parse_scenario_with_source(text, "made.yaml", {});
  REQUIRE_OK(read);
  return examined_of(*read);
}

const std::string k_distilled = "scenarios/distillation/qwen3-30b-a3b-distilled-8xh100.yaml";
const std::string k_chunks = "model.loss={kind: chunked, chunks: 8}";
const std::string k_gemma =
    "model: {config: gemma-2b, sequence_length: 2048, dtype: bfloat16}\n"
    "cluster: {gpu: A100-SXM-40GB, gpus_per_node: 1}\nparallel: {strategy: none}\ntrain: {micro_batch: 4}\n";

// None of the settings that `explain memory` tries makes it fit for less time, by more than a prediction
// knows.
void check_cheapest(const Examined& examined) {
  REQUIRE(examined.finding.effect);
  CHECK(examined.finding.effect->after.fits == true);
  const auto after = predict_with(examined.planned, examined.finding.fix.set, nullptr);
  REQUIRE_OK(after);
  for (const SettingToTry& each : settings_that_could_save(examined.planned, examined.run)) {
    if (each.touches != Touches::nothing || each.setting.starts_with("offload.")) continue;
    const auto with = predict_with(examined.planned, each.setting, nullptr);
    if (!with || room_of(with->run) != Room::ample) continue;
    INFO(each.setting);
    CHECK(after->run.tokens_per_second >= 0.99 * with->run.tokens_per_second);
  }
}

}  // namespace

TEST_CASE("the doctor takes what explain memory proposes, where it costs least time") {
  for (const char* setting : {"model.sequence_length=16384", "train.micro_batch=4"}) {
    INFO(setting);
    const Examined examined = examine_file(k_distilled, {setting});
    CHECK(examined.finding.fix.set == std::vector<std::string>{k_chunks});
    CHECK(examined.finding.effect->after.step_time < examined.finding.effect->before.step_time);
    check_cheapest(examined);
  }
}

TEST_CASE("several settings are proposed where they take less time than one") {
  const Examined examined = examine_text(k_gemma);
  CHECK(examined.finding.fix.set ==
        std::vector<std::string>{k_chunks, "train.micro_batch=2", "train.accumulation=2"});
  check_cheapest(examined);
}

TEST_CASE("one setting is proposed where several would take about as long") {
  const Examined examined = examine_file("scenarios/validation/llama-80-layers.yaml");
  CHECK(examined.finding.fix.set == std::vector<std::string>{"activation.checkpoint=full"});
  check_cheapest(examined);
}

// Autocast allows no chunked loss: nothing makes it fit, and what lowers the need keeps what is trained.
TEST_CASE("a fix keeps the global batch, also one that does not suffice") {
  const Examined examined = examine_text(
      "model: {config: gemma-2b, sequence_length: 2048}\ncluster: {gpu: A100-SXM-40GB, gpus_per_node: 1}\n"
      "parallel: {strategy: none}\nprecision: {autocast: bfloat16}\ntrain: {micro_batch: 4}\n");
  REQUIRE(examined.finding.effect);
  CHECK(examined.finding.effect->after.fits == false);
  CHECK_THAT(examined.finding.fix.text, test::contains_text("is not enough: still ") &&
                                            test::contains_text(" too much; what is left: activations "));
  const auto fixed = predict_with(examined.planned, examined.finding.fix.set, nullptr);
  REQUIRE_OK(fixed);
  const TrainSpec &before = *examined.planned.scenario.train, &after = *fixed->planned.scenario.train;
  CHECK(after.micro_batch < before.micro_batch);
  CHECK(examined.finding.effect->after.too_much ==
        *fixed->run.memory->peak_device - *fixed->run.memory_limit);
  CHECK(after.micro_batch * after.accumulation == before.micro_batch * before.accumulation);
}

// Our operators would fit and be faster: nobody can set them in PyTorch.
TEST_CASE("other operators are no fix") {
  const Examined examined = examine_file(k_distilled, {"model.sequence_length=16384"});
  const auto fused = predict_with(examined.planned, std::string(k_own_operators), nullptr);
  REQUIRE_OK(fused);
  CHECK(room_of(fused->run) == Room::ample);
  for (const std::string& each : examined.finding.fix.set) CHECK(each != k_own_operators);
}

// Gradients reduced in 16 bits would make the step faster.
TEST_CASE("fewer bits are no fix where they are not needed") {
  const Examined examined = examine_file("scenarios/memory/reserved-exceeds.yaml");
  REQUIRE_FALSE(examined.finding.fix.set.empty());
  for (const std::string& each : examined.finding.fix.set) CHECK_FALSE(each.starts_with("precision."));
}

}  // namespace shardlab
