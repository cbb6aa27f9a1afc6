#include "simulator/alternatives/alternatives.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "engine/scenario/read_scenario.h"
#include "simulator/alternatives/settings_to_try.h"
#include "tests/catch.h"
#include "tests/unit/alternatives/predicted_scenario.h"

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
  test::PredictedScenario made = test::predicted_scenario(scenario);
  return {made.run, predict_alternatives(made.planned, made.run, nullptr).value()};
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
  CHECK(fused == &open.alternatives.back());
  CHECK_THAT(fused->effect, test::contains_text("comparison"));
  const Predicted stated =
      predict("config: llama-3.2-1b, sequence_length: 2048, implementation: fused", fsdp2);
  CHECK(stated.run.implementation == Implementation::fused);
  CHECK(fused->peak_allocated == stated.run.memory->peak_allocated);
  CHECK(fused->step_time == stated.run.step_time.median);
  CHECK(stated.find("model.implementation=fused") == nullptr);
  // A scenario that states its implementation is told of the other one as well.
  const Alternative* const eager = stated.find("model.implementation=eager");
  REQUIRE(eager != nullptr);
  CHECK(eager->peak_allocated == open.run.memory->peak_allocated);
}

TEST_CASE("what cannot halve the peak is not told") {
  const Predicted predicted =
      predict("config: llama-3.2-1b, sequence_length: 512",
              "parallel: {strategy: fsdp2}\nprecision: {param: bfloat16}\ntrain: {micro_batch: 1}");
  for (const Alternative& each : predicted.alternatives) {
    CAPTURE(each.setting);
    CHECK((each.setting == "model.implementation=fused" ||
           is_half(each.peak_allocated, predicted.run.memory->peak_allocated)));
  }
}

// One scenario for each key that can hold half of a peak, on 64 GPUs.
TEST_CASE("any single key that halves the peak is named") {
  const std::string small =
      "precision: {param: bfloat16, reduce: float32}\ntrain: {micro_batch: 1}\n"
      "activation: {checkpoint: full}\nparallel: ";
  const std::string zero =  // reduces in the dtype of the parameters
      "precision: {param: bfloat16}\ntrain: {micro_batch: 1}\nactivation: {checkpoint: full}\nparallel: ";
  const std::string llama = "config: llama-3-8b, sequence_length: 512";
  struct Case {
    std::string setting, model, sections;
  };
  const Case cases[] = {
      {"parallel.wrap={policy: transformer}", llama, small + "{strategy: fsdp2, wrap: {policy: none}}"},
      {"parallel.reshard_after_forward=true", llama,
       small + "{strategy: fsdp2, reshard_after_forward: false}"},
      {"parallel.mesh={replicate: 1}", llama, small + "{strategy: fsdp2, mesh: {replicate: 16, shard: 4}}"},
      {"parallel.sharding=full_shard", llama, small + "{strategy: fsdp1, sharding: shard_grad_op}"},
      {"parallel.sharding=full_shard", llama, small + "{strategy: fsdp1, sharding: no_shard}"},
      {"parallel.sharding=hybrid_shard", llama,
       small + "{strategy: fsdp1, sharding: hybrid_shard_zero2, mesh: {replicate: 2}}"},
      {"parallel.strategy=zero3", llama, zero + "{strategy: zero1}"},
      {"parallel.strategy=zero3", llama, zero + "{strategy: zero2}"},
      {"parallel={strategy: fsdp2}", llama,
       "train: {micro_batch: 1}\nparallel: {strategy: ddp, ddp: {gradient_as_bucket_view: true}}"},
      {"model.dtype=bfloat16", llama, "train: {micro_batch: 1}\nparallel: {strategy: ddp}"},
      {"offload.parameters=cpu", "config: llama-3-70b, sequence_length: 512",
       small + "{strategy: fsdp2, mesh: {replicate: 8}}"},
      {"offload.optimizer=cpu", "config: llama-3-70b, sequence_length: 512",
       zero + "{strategy: zero3, zero: {stage3_param_persistence_threshold: 0}}"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.setting, each.sections);
    const Predicted predicted = predict(each.model, each.sections, 8);
    const Alternative* const found = predicted.find(each.setting);
    REQUIRE(found != nullptr);
    CHECK(is_half(found->peak_allocated, predicted.run.memory->peak_allocated));
  }
}

TEST_CASE("the largest micro-batch that halves the peak is named, with what keeps the batch") {
  const Predicted predicted = predict("config: llama-3.2-1b, sequence_length: 2048",
                                      "parallel: {strategy: fsdp2}\nprecision: {param: bfloat16}\n"
                                      "train: {micro_batch: 12, accumulation: 2, sync: every}");
  const Alternative* const smaller = predicted.find("train.micro_batch=4");
  REQUIRE(smaller != nullptr);
  CHECK(smaller->effect == "changes the global batch, unless train.accumulation=6 follows");
  CHECK(predicted.find("train.micro_batch=2") == nullptr);
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
