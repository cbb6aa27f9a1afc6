// What a distillation's teacher holds, and the settings that make it less.
#include <algorithm>
#include <cmath>

#include "engine/scenario/read_scenario.h"
#include "simulator/alternatives/memory_savings.h"
#include "simulator/alternatives/time_savings.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/alternatives/predicted_scenario.h"

namespace shardlab {
namespace {

struct OfTeacher {
  PlannedScenario planned;
  RunSummary run;
  std::vector<MemorySaving> savings;

  const MemorySaving* find(std::string_view setting) const {
    const auto found = std::find_if(savings.begin(), savings.end(),
                                    [&](const MemorySaving& each) { return each.setting == setting; });
    return found == savings.end() ? nullptr : &*found;
  }
};

// Qwen3-30B-A3B as a teacher, with this section.
OfTeacher predict(const std::string& teacher) {
  const auto file = test::source_folder() / "scenarios/distillation/qwen3-30b-a3b-distilled-8xh100.yaml";
  const auto scenario =
      read_scenario(file.string(), std::vector<std::string>{"distillation.teacher=" + teacher});
  test::PredictedScenario made = test::predicted_scenario(scenario);
  return {made.planned, made.run, predict_savings(made.planned, made.run, nullptr).value()};
}

const std::string k_sharded = "distillation.teacher.parallel={strategy: fsdp2}";
const std::string k_narrow = "distillation.teacher.dtype=bfloat16";

}  // namespace

// 30,532,122,624 parameters of four bytes on every rank are 113.7 GiB of devices of 79.2.
TEST_CASE("a teacher that every rank holds whole, in 32 bits, is told with what makes it fit") {
  for (const char* teacher : {"qwen3-30b-a3b", "{config: qwen3-30b-a3b, parallel: {strategy: none}}"}) {
    INFO(teacher);
    const OfTeacher whole = predict(teacher);
    const Bytes held{30'532'122'624 * 4};
    CHECK(whole.run.memory->by_class[static_cast<std::size_t>(BufferClass::parameter)] == held);
    CHECK(whole.run.fits == Fit::no);
    const MemorySaving* const sharded = whole.find(k_sharded);
    REQUIRE(sharded != nullptr);
    CHECK(sharded == &whole.savings.front());
    CHECK(sharded->fits == Fit::yes);
    // Seven of eight parts, but for what is gathered of it.
    CHECK(sharded->gain > Bytes{held.value / 4 * 3});
    CHECK(sharded->gain < Bytes{held.value / 8 * 7});
    const MemorySaving* const narrow = whole.find(k_narrow);
    REQUIRE(narrow != nullptr);
    CHECK(std::abs(static_cast<double>(narrow->gain.value) / static_cast<double>(held.value) - 0.5) < 0.02);
  }
}

TEST_CASE("a teacher whose layers stay gathered is told how to give them back") {
  const auto setting_of = [](const std::string& parallel) {
    const OfTeacher kept = predict("{config: qwen3-30b-a3b, dtype: bfloat16, parallel: " + parallel + "}");
    CHECK(kept.find(k_narrow) == nullptr);  // it is
    CHECK(kept.find(k_sharded) == nullptr);
    return kept.savings.front().setting;
  };
  CHECK(setting_of("{strategy: fsdp2, reshard_after_forward: false}") ==
        "distillation.teacher.parallel.reshard_after_forward=true");
  CHECK(setting_of("{strategy: fsdp1, sharding: shard_grad_op}") ==
        "distillation.teacher.parallel.sharding=full_shard");
  CHECK(setting_of("{strategy: fsdp2, mesh: {replicate: 8}}") ==
        "distillation.teacher.parallel.mesh={replicate: 1}");
}

TEST_CASE("a teacher that computes in 32 bits is what makes steps slow") {
  const OfTeacher whole = predict("qwen3-30b-a3b");
  const std::vector<TimeSaving> faster = predict_time_savings(whole.planned, whole.run, nullptr).value();
  REQUIRE_FALSE(faster.empty());
  CHECK(faster.front().settings == std::vector<std::string>{k_narrow});
  CHECK(faster.front().tokens_per_second > 2 * whole.run.tokens_per_second);
  const OfTeacher sharded = predict("{config: qwen3-30b-a3b, dtype: bfloat16, parallel: {strategy: fsdp2}}");
  const auto savings = predict_time_savings(sharded.planned, sharded.run, nullptr);
  REQUIRE_OK(savings);
  const std::vector<std::string> kept = {"distillation.teacher.parallel.reshard_after_forward=false"};
  CHECK(std::any_of(savings->begin(), savings->end(),
                    [&](const TimeSaving& each) { return each.settings == kept && each.fits == Fit::no; }));
}

}  // namespace shardlab
