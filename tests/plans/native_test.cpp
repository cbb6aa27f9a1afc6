// `native` beside FSDP2 at the same settings: the bytes a step moves, from the plan; the peak of memory, from
// the simulator.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/plan/unit_sizes.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "engine/trace/step_time.h"
#include "simulator/simulate.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::test {
namespace {

namespace fs = std::filesystem;

struct Figures {
  Bytes sent, peak;
  Bytes gradient;  // the largest gradient buffer
  double milliseconds = 0;
  std::size_t instructions = 0;
};

Bytes sent_by_all(const StepPlan& plan) {
  Bytes sum;
  for (const Instruction& instruction : plan.instructions) {
    if (is_collective(instruction.kind)) sum += sent_bytes(plan, instruction);
  }
  return sum;
}

Figures figures(const fs::path& file, std::vector<std::string> overrides, const std::string& strategy) {
  overrides.push_back("parallel.strategy=" + strategy);
  const Result<Scenario> scenario = read_scenario(file, overrides);
  REQUIRE_OK(scenario);
  const Result<PlannedScenario> planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  const Result<Device> device = resolve_device(*scenario->cluster);
  REQUIRE_OK(device);
  const Result<RunTrace> run = simulate({*planned, *device});
  REQUIRE_OK(run);
  Figures made;
  made.sent = sent_by_all(planned->plan.steady);
  made.instructions = planned->plan.steady.instructions.size();
  for (const Buffer& buffer : planned->plan.steady.buffers) {
    if (buffer.buffer_class == BufferClass::gradient) made.gradient = std::max(made.gradient, buffer.bytes());
  }
  const StepTrace& step = run->steps.at(0);
  for (const MemorySample& sample : step.ranks.at(0).memory) made.peak = std::max(made.peak, sample.peak);
  made.milliseconds = static_cast<double>(step_time(step).value) / 1e6;
  return made;
}

const std::vector<std::vector<std::string>> k_variants = {
    {},
    {"precision.param=bfloat16", "precision.reduce=float32"},
    {"precision.param=bfloat16", "precision.reduce=bfloat16", "parallel.reshard_after_forward=false"},
    {"train.accumulation=3"},
    {"train.accumulation=3", "train.sync=every", "precision.param=bfloat16", "precision.reduce=float32"},
    {"train.accumulation=3", "precision.param=bfloat16", "precision.reduce=float32"},
    {"cluster.ranks=4"},
    {"cluster.ranks=4", "parallel.mesh.replicate=2"},
    {"cluster.ranks=3", "model.overrides.vocab_size=257", "model.overrides.intermediate_size=170"},
    {"parallel.wrap.policy=none"},
    {"parallel.wrap={policy: size, min_params: 20000}"},
    {"model.overrides.tie_word_embeddings=true"},
    {"activation.checkpoint=full"},
    {"activation.checkpoint=full", "activation.placement=outside", "precision.param=bfloat16"},
    {"parallel.prefetch={forward_depth: 2, backward_depth: 2}"},
    {"train.clip_norm=1"},
};

}  // namespace

// A unit's gradients are one storage to it, there as a whole with the first of them; to FSDP2 they come one
// by one. Where the peak lies in the middle of a unit's backward it holds at most that much more.
TEST_CASE("native moves no more bytes than FSDP2, and holds at most a unit's gradients more") {
  const fs::path scenarios = fs::path(SHARDLAB_TEST_SOURCE) / "scenarios";
  fmt::print("{:>12} {:>12} {:>6}  {:>12} {:>12} {:>6}  {:>6} {:>6}  {}\n", "sent fsdp2", "native", "",
             "peak fsdp2", "native", "", "time", "instr.", "scenario");
  int compared = 0;
  const auto compare = [&](const fs::path& file, const std::vector<std::string>& overrides) {
    const std::string name = fmt::format("{} {}", file.stem().string(), fmt::join(overrides, " "));
    INFO(name);
    const Figures fsdp2 = figures(file, overrides, "fsdp2"), native = figures(file, overrides, "native");
    const auto ratio = [](Bytes a, Bytes b) {
      return static_cast<double>(a.value) / static_cast<double>(b.value);
    };
    fmt::print("{:>12} {:>12} {:6.3f}  {:>12} {:>12} {:6.3f}  {:6.3f} {:6.3f}  {}\n", to_string(fsdp2.sent),
               to_string(native.sent), ratio(native.sent, fsdp2.sent), to_string(fsdp2.peak),
               to_string(native.peak), ratio(native.peak, fsdp2.peak),
               native.milliseconds / fsdp2.milliseconds,
               static_cast<double>(native.instructions) / static_cast<double>(fsdp2.instructions), name);
    CHECK(native.sent <= fsdp2.sent);
    CHECK(native.peak <= fsdp2.peak + native.gradient);
    ++compared;
  };
  for (const std::vector<std::string>& variant : k_variants)
    compare(scenarios / "first/tiny-llama.yaml", variant);
  for (const char* file :
       {"first/small-llama.yaml", "first/tiny-llama-bf16.yaml", "first/tiny-llama-accumulation.yaml",
        "first/llama3-8b-fsdp2-8xh100.yaml", "validation/llama-64m.yaml", "validation/llama-256m.yaml",
        "validation/llama-1g.yaml", "validation/llama-80-layers.yaml"}) {
    compare(scenarios / file, {});
  }
  CHECK(compared == static_cast<int>(k_variants.size()) + 8);
}

}  // namespace shardlab::test
