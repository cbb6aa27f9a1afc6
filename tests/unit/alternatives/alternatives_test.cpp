#include "simulator/alternatives/alternatives.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "engine/planner/plan_scenario.h"
#include "engine/report/summarize.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

struct Predicted {
  RunSummary run;
  std::vector<Alternative> alternatives;

  const Alternative* find(std::string_view setting) const {
    const auto found = std::find_if(alternatives.begin(), alternatives.end(),
                                    [&](const Alternative& each) { return each.setting == setting; });
    return found == alternatives.end() ? nullptr : &*found;
  }
};

Predicted predict(const std::string& model, const std::string& sections, int nodes = 1) {
  const std::string yaml =
      fmt::format("model: {{{}}}\ncluster: {{node: hgx-h100, nodes: {}}}\n{}\n", model, nodes, sections);
  const auto scenario = parse_scenario(yaml, "asked.yaml");
  REQUIRE_OK(scenario);
  const auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  const auto device = resolve_device(*planned->scenario.cluster);
  REQUIRE_OK(device);
  const auto trace = simulate({*planned, *device});
  REQUIRE_OK(trace);
  const auto run = summarize(*planned, *trace, device_limits(*planned).value());
  REQUIRE_OK(run);
  return {*run, predict_alternatives(*planned, *run, nullptr)};
}

}  // namespace

// The first answer for a 70B with 8 micro-batches holds whole float32 gradients of all units: 70.6e9 x 4 B.
TEST_CASE("accumulation that keeps whole gradients is told with the key that ends it") {
  const Predicted predicted =
      predict("config: llama-3-70b, sequence_length: 4096",
              "parallel: {strategy: fsdp2}\nprecision: {param: bfloat16, reduce: float32}\n"
              "train: {micro_batch: 1, accumulation: 8}\nactivation: {checkpoint: full}",
              8);
  CHECK(predicted.run.memory->peak_allocated > Bytes{70'000'000'000 * 4});
  const Alternative* const every = predicted.find("train.sync=every");
  REQUIRE(every != nullptr);
  CHECK(every->peak_allocated < gibibytes(60));
  CHECK(every->step_time > Nanoseconds{});
  CHECK(every->fits != Fit::no);
  CHECK(predicted.run.fits == Fit::no);
  CHECK(predicted.find("activation.checkpoint=full") == nullptr);  // it is set
}

TEST_CASE("the other implementation stands beside a prediction that left it open") {
  const std::string fsdp2 =
      "parallel: {strategy: fsdp2}\nprecision: {param: bfloat16}\ntrain: {micro_batch: 1}";
  const Predicted open = predict("config: llama-3.2-1b, sequence_length: 2048", fsdp2);
  CHECK(open.run.implementation == Implementation::eager);
  const Alternative* const fused = open.find("model.implementation=fused");
  REQUIRE(fused != nullptr);
  const Predicted stated =
      predict("config: llama-3.2-1b, sequence_length: 2048, implementation: fused", fsdp2);
  CHECK(stated.run.implementation == Implementation::fused);
  CHECK(fused->peak_allocated == stated.run.memory->peak_allocated);
  CHECK(fused->step_time == stated.run.step_time.median);
  CHECK(stated.find("model.implementation=fused") == nullptr);
}

TEST_CASE("what cannot halve the peak is not told") {
  const Predicted predicted =
      predict("config: llama-3.2-1b, sequence_length: 512",
              "parallel: {strategy: fsdp2}\nprecision: {param: bfloat16}\ntrain: {micro_batch: 1}");
  for (const Alternative& each : predicted.alternatives) {
    CAPTURE(each.setting);
    CHECK((each.setting == "model.implementation=fused" ||
           each.peak_allocated.value * 2 <= predicted.run.memory->peak_allocated.value));
  }
}

TEST_CASE("replicas on many ranks are told to shard") {
  const Predicted predicted = predict("config: llama-3-8b, sequence_length: 512",
                                      "parallel: {strategy: ddp}\ntrain: {micro_batch: 1}");
  CHECK(predicted.run.fits == Fit::no);
  const Alternative* const shards = predicted.find("parallel.strategy=fsdp2");
  REQUIRE(shards != nullptr);
  CHECK(shards->fits == Fit::yes);
}

}  // namespace shardlab
