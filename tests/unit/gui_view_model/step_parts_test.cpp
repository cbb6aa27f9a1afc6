#include "gui/view_model/timeline/step_parts.h"

#include "tests/catch.h"
#include "tests/hand_made_run.h"
#include "tests/unit/gui_view_model/real_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

std::vector<StepPart> parts_of(const StepPlan& plan, const RankTrace& rank) {
  return step_parts(plan, PlanWords(plan), rank);
}

std::vector<StepPart> parts_of(const RealRuns& runs) {
  return parts_of(runs.planned.plan.steady, runs.predicted->record.trace.steps[0].ranks[0]);
}

}  // namespace

TEST_CASE("a step is forward, backward and the optimizer, by the spans on the compute stream") {
  CHECK(parts_of(hand_made_plan(), hand_made_rank()) ==
        std::vector<StepPart>{{StepPhase::forward, false, 0, {100}, {200}},
                              {StepPhase::backward, false, 0, {200}, {400}},
                              {StepPhase::optimizer, false, std::nullopt, {460}, {510}}});
}

TEST_CASE("with accumulation every micro-batch has a forward and a backward part") {
  const RealRuns runs = real_runs("scenarios/first/tiny-llama-accumulation.yaml");
  const int micro_batches = runs.planned.plan.steady.micro_batches;
  REQUIRE(micro_batches > 1);
  const std::vector<StepPart> parts = parts_of(runs);
  REQUIRE(parts.size() == static_cast<std::size_t>(2 * micro_batches + 1));
  for (int i = 0; i < micro_batches; ++i) {
    CHECK(parts[static_cast<std::size_t>(2 * i)].phase == StepPhase::forward);
    CHECK(parts[static_cast<std::size_t>(2 * i)].micro_batch == i);
    CHECK(parts[static_cast<std::size_t>(2 * i + 1)].phase == StepPhase::backward);
    CHECK(parts[static_cast<std::size_t>(2 * i + 1)].micro_batch == i);
  }
  CHECK(parts.back().phase == StepPhase::optimizer);
  for (std::size_t i = 1; i < parts.size(); ++i) CHECK(parts[i - 1].end <= parts[i].begin);
}

TEST_CASE("a teacher's forward is a part of its own") {
  const std::vector<StepPart> parts = parts_of(real_runs("scenarios/distillation/tiny-llama-distilled.yaml"));
  CHECK(std::any_of(parts.begin(), parts.end(), [](const StepPart& part) { return part.teachers; }));
  for (const StepPart& part : parts)
    if (part.teachers) CHECK(part.phase == StepPhase::forward);
}

TEST_CASE("parts in words, and in few letters") {
  CHECK(to_words(StepPart{StepPhase::forward, false, 1, {}, {}}, 4) == "forward, micro-batch 2 of 4");
  CHECK(to_words(StepPart{StepPhase::forward, true, 0, {}, {}}, 1) == "the teacher's forward");
  CHECK(to_words(StepPart{StepPhase::optimizer, false, {}, {}, {}}, 4) == "optimizer");
  CHECK(brief(StepPart{StepPhase::backward, false, 1, {}, {}}, 4) == "bwd 2");
  CHECK(brief(StepPart{StepPhase::optimizer, false, {}, {}, {}}, 4) == "opt");
}
