// Activation checkpointing: which operators are run again, and what the programs of a recomputed segment keep
// and free.
#include "engine/model/checkpoint_regions.h"

#include "engine/model/families/family.h"
#include "engine/model/freeze.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/partition.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"
#include "tests/unit/model/check_programs.h"

namespace shardlab::test {
namespace {

ModelGraph llama(const std::vector<std::string>& frozen = {}) {
  const auto config = ModelConfig::parse(
      R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 4,
          "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 256,
          "max_position_embeddings": 64})",
      "config.json", {});
  REQUIRE(config);
  auto graph = build_model_graph(*config, {1, 16, DType::float32, DType::float32});
  REQUIRE(graph);
  const Status done = freeze_parameters(*graph, frozen);
  if (!done) FAIL(to_string(done.error()));
  return *std::move(graph);
}

std::vector<CheckpointRegion> regions(const ModelGraph& graph, int every = 1, bool reentrant = false) {
  const auto found = checkpoint_regions(graph, every, false, reentrant);
  if (!found) FAIL(to_string(found.error()));
  return *found;
}

Partition by_layer(const ModelGraph& graph, const std::vector<CheckpointRegion>& regions,
                   const std::vector<OperatorId>& cuts = {}) {
  return make_partition(graph, wrap_modules(graph, WrapSpec{})->units, cuts, regions);
}

std::string module_of(const ModelGraph& graph, OperatorId op) {
  return graph.module(graph.op(op).module).path;
}

Bytes left_by(const Program& program) {
  Bytes left;
  for (const ProgramStep& step : program.steps) {
    for (const ValueIndex value : step.allocates) left += program.values[value].bytes;
    for (const ValueIndex value : step.frees) left -= program.values[value].bytes;
  }
  return left;
}

const std::vector<OperatorId> k_cuts = {OperatorId{3}, OperatorId{9}, OperatorId{12}, OperatorId{17},
                                        OperatorId{20}};

}  // namespace

TEST_CASE("a region is a layer, and recomputation stops when the last saved tensor was made") {
  const ModelGraph graph = llama();
  const std::vector<CheckpointRegion> found = regions(graph);
  REQUIRE(found.size() == 4);
  for (int layer = 0; layer < 4; ++layer) {
    const CheckpointRegion& region = found[static_cast<std::size_t>(layer)];
    const std::string path = "model.layers." + std::to_string(layer);
    CHECK(graph.module(region.module).path == path);
    CHECK(module_of(graph, region.begin) == path + ".input_layernorm");
    CHECK(graph.op(OperatorId{region.end.value - 1}).type == &k_add);
    // down_proj saves its input, which is there; the residual saves nothing.
    CHECK(module_of(graph, region.stop) == path + ".mlp.down_proj");
    CHECK(region.trigger == region.stop);
  }
}

TEST_CASE("every k-th layer, counted from the k-th") {
  const ModelGraph graph = llama();
  const std::vector<CheckpointRegion> third = regions(graph, 3);
  REQUIRE(third.size() == 1);
  CHECK(graph.module(third[0].module).path == "model.layers.2");
  CHECK(regions(graph, 2).size() == 2);
  const auto none = checkpoint_regions(graph, 5, false, false);
  REQUIRE_FALSE(none);
  CHECK_THAT(to_string(none.error()), contains_text("the model has 4 layers"));
}

TEST_CASE("a reentrant region is run again whole") {
  const ModelGraph graph = llama();
  for (const CheckpointRegion& region : regions(graph, 1, true)) {
    CHECK(region.stop == region.end);
    CHECK(region.trigger.value + 1 == region.end.value);
  }
}

TEST_CASE("a frozen weight is packed like any saved tensor, a frozen region is none") {
  const ModelGraph weights = llama({"**.mlp"});
  CHECK(module_of(weights, regions(weights)[0].stop) == "model.layers.0.mlp.down_proj");
  const ModelGraph lower = llama({"model.embed_tokens", "model.layers.0", "model.layers.1"});
  REQUIRE(regions(lower).size() == 2);
  CHECK(lower.module(regions(lower)[0].module).path == "model.layers.2");
}

TEST_CASE("a reentrant region that no gradient enters is refused, as its parameters would not be trained") {
  const ModelGraph lower = llama({"model.embed_tokens", "model.layers.0"});
  const auto refused = checkpoint_regions(lower, 1, false, true);
  REQUIRE_FALSE(refused);
  CHECK_THAT(to_string(refused.error()), contains_text("no gradient flows into model.layers.1"));
}

TEST_CASE(
    "the forward of a recomputed segment keeps nothing, its recomputation what the forward would have kept") {
  const ModelGraph graph = llama();
  const Partition plain = by_layer(graph, {});
  const Partition again = by_layer(graph, regions(graph));
  REQUIRE(again.segments.size() == plain.segments.size());
  for (std::size_t i = 0; i < plain.segments.size(); ++i) {
    INFO(plain.segments[i].name);
    const SegmentPrograms& was = plain.segments[i].programs;
    const SegmentPrograms& is = again.segments[i].programs;
    const bool layer = i > 0 && i + 1 < plain.segments.size();
    CHECK(is.recomputed == layer);
    CHECK(is.saved_bytes == was.saved_bytes);
    CHECK(is.backward_reads == was.backward_reads);
    CHECK(is.backward.peak == was.backward.peak);
    if (!layer) continue;
    CHECK(left_by(is.forward) == graph.tensor(again.segments[i].outputs[0]).bytes());
    CHECK(left_by(is.recompute) == is.saved_bytes);
    CHECK(is.recompute.steps.size() == was.forward.steps.size() - 2);  // neither down_proj nor the residual
    CHECK(is.recomputed_outputs.empty());
    CHECK(is.forward.peak < was.forward.peak);
  }
}

TEST_CASE("a reentrant region makes its output again") {
  const ModelGraph graph = llama();
  const Partition partition = by_layer(graph, regions(graph, 1, true));
  const Segment& layer = partition.segments[1];
  CHECK(layer.programs.recomputed_outputs == layer.outputs);
  CHECK(layer.programs.recompute.steps.size() == layer.programs.forward.steps.size());
  CHECK(left_by(layer.programs.recompute) ==
        layer.programs.saved_bytes + graph.tensor(layer.outputs[0]).bytes());
}

TEST_CASE("recomputed programs balance, wherever a region is cut") {
  for (const std::vector<std::string>& frozen : {std::vector<std::string>{},
                                                 {"model.embed_tokens"},
                                                 {"**.mlp"},
                                                 {"model.embed_tokens", "model.layers.0.input_layernorm"}}) {
    const ModelGraph graph = llama(frozen);
    for (const bool reentrant : {false, true}) {
      if (reentrant && frozen.size() > 1) continue;
      if (reentrant && !frozen.empty() && frozen[0] == "model.embed_tokens") continue;
      for (const int every : {1, 3}) {
        const auto found = regions(graph, every, reentrant);
        for (const Partition& partition :
             {by_layer(graph, found), by_layer(graph, found, k_cuts), make_partition(graph, {}, {}, found),
              make_partition(graph, {}, k_cuts, found)}) {
          for (const Segment& segment : partition.segments) {
            check_balance(segment);
            CHECK(segment.programs.recomputed == segment.region.has_value());
          }
        }
      }
    }
  }
}

TEST_CASE("regions know their segments, the units inside and what leaves them") {
  const ModelGraph graph = llama();
  WrapSpec spec;
  spec.policy = WrapPolicyKind::module;
  spec.classes = {"LlamaDecoderLayer", "LlamaMLP"};
  const auto wrapped = wrap_modules(graph, spec);
  REQUIRE(wrapped);
  for (const bool around : {false, true}) {
    const auto found = checkpoint_regions(graph, 2, around, false);
    REQUIRE(found);
    const Partition partition = make_partition(graph, wrapped->units, {}, *found);
    REQUIRE(partition.regions.size() == 2);
    const Region& region = partition.regions[0];
    CHECK(region.units.size() ==
          (around ? 2U : 1U));  // the MLP, and the layer itself when the checkpoint is around it
    CHECK(region.outputs.size() == 1);
    CHECK(partition.segment(region.first).begin == region.operators.begin);
    CHECK(partition.segment(region.last).end == region.operators.end);
    CHECK(region.trigger < region.last);  // the residual behind the MLP is a segment that saves nothing
    CHECK(partition.segment(region.last).programs.recompute.steps.empty());
    CHECK_FALSE(partition.segment(region.trigger).programs.recompute.steps.empty());
  }
}

}  // namespace shardlab::test
