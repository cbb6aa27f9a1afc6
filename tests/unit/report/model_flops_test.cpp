// What MFU counts: what training needs, not what was done.
#include "engine/report/model_flops.h"

#include "engine/model/families/family.h"
#include "engine/model/freeze.h"
#include "engine/model/partition.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

// 4 layers of 4 heads of 16, 256 words, sequences of 16.
PlannedScenario planned_llama(const std::vector<std::string>& frozen, bool flat_parameters) {
  const auto config = ModelConfig::parse(
      R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 4,
          "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 256,
          "max_position_embeddings": 64})",
      "config.json", {});
  REQUIRE(config);
  auto graph = build_model_graph(*config, {2, 16, DType::float32, DType::float32});
  REQUIRE(graph);
  PlannedScenario planned;
  planned.graph = *std::move(graph);
  if (!frozen.empty()) REQUIRE_OK(freeze_parameters(planned.graph, frozen));
  const auto units = [&] { return wrap_modules(planned.graph, WrapSpec{})->units; };
  planned.partition = make_partition(planned.graph, units(), {});
  if (flat_parameters) {
    REQUIRE(require_gradients_by_unit(planned.graph, planned.partition.unit_of_parameter));
    planned.partition = make_partition(planned.graph, units(), {});
  }
  planned.plan.steady.micro_batches = 1;
  return planned;
}

TEST_CASE("gradients that only a flat parameter asks for are no model FLOPs") {
  const std::vector<std::string> frozen = {"**.q_proj", "**.up_proj", "lm_head"};
  const Flops needed = model_flops_per_step(planned_llama(frozen, false));
  const PlannedScenario flat = planned_llama(frozen, true);
  CHECK(model_flops_per_step(flat) == needed);
  CHECK(needed < model_flops_per_step(planned_llama({}, false)));
  Flops executed;
  for (const Segment& segment : flat.partition.segments) {
    for (const Work& work : segment.programs.forward.work) executed += work.model_flops;
    for (const Work& work : segment.programs.backward.work) executed += work.model_flops;
  }
  CHECK(executed > needed);  // it did compute them
}

TEST_CASE("PaLM counts six FLOPs a parameter and whole attention") {
  const PlannedScenario planned = planned_llama({}, false);
  // A layer: q and o 64 x 64, k and v 32 x 64, three products of 176 x 64, two norms; embedding and head 256
  // x 64.
  const std::int64_t layer = 2 * 64 * 64 + 2 * 32 * 64 + 3 * 176 * 64 + 2 * 64;
  const std::int64_t parameters = 4 * layer + 2 * 256 * 64 + 64;
  const std::int64_t tokens = 2 * 16;
  CHECK(palm_flops_per_step(planned) == Flops{(6 * parameters + 12 * 4 * 64 * 16) * tokens});
  CHECK(model_flops_per_step(planned) < *palm_flops_per_step(planned));
  CHECK_FALSE(palm_flops_per_step(planned_llama({"lm_head"}, false)).has_value());
}

}  // namespace
}  // namespace shardlab::test
