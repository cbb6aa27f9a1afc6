// What is refused as "not supported yet", one change to a supported scenario at a time.
#include <string>
#include <vector>

#include "engine/scenario/read_scenario.h"
#include "engine/scenario/unsupported.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr std::string_view k_base = R"(
model: { config: tiny-llama, sequence_length: 128 }
cluster: { device: cpu, ranks: 2 }
parallel: { strategy: fsdp2 }
)";

std::string result_of(const std::vector<std::string>& sets) {
  const auto read = parse_scenario(k_base, "a.yaml", sets);
  return read ? "" : to_string(read.error());
}

TEST_CASE("supported: what is built") {
  for (const char* set :
       {"parallel.strategy=ddp",
        "parallel.strategy=fsdp1",
        "parallel={strategy: fsdp1, prefetch: {forward: true}}",
        "parallel.prefetch={forward_depth: 2, backward_depth: 2}",
        "parallel.reshard_after_forward=true",
        "parallel.reshard_after_forward=false",
        "parallel.wrap.policy=none",
        "parallel.wrap={policy: size}",
        "parallel.wrap={policy: size, rule: plain, min_params: 1M}",
        "parallel.wrap={policy: module, classes: [X]}",
        "parallel.wrap={policy: lambda, match: [{path: model.*}]}",
        "parallel.wrap={policy: or, any: [{policy: size}, {policy: transformer}]}",
        "parallel.mesh.shard=2",
        "precision={param: bfloat16, reduce: float32}",
        "precision.buffer=float32",
        "precision={param: bfloat16, output: float32, cast_forward_inputs: false}",
        "parallel.wrap.overrides=[{match: {path: x}, settings: {precision.param: float32}}]",
        "parallel.wrap.overrides=[{match: {path: x}, settings: {reshard_after_forward: false}}]",
        "train.optimizer=sgd",
        "train.clip_norm=1",
        "train={sync: every, accumulation: 2}",
        "train.accumulation=4",
        "train.schedule={kind: cosine, warmup_steps: 2, total_steps: 9}",
        "launch.backend=gloo",
        "launch.launcher=torchrun",
        "model.dtype=bfloat16",
        "model.overrides.num_hidden_layers=1",
        "train.optimizer=adam",
        "train={optimizer: sgd, momentum: 0.9}",
        "train.optimizer_implementation=loop",
        "train.optimizer_implementation=foreach",
        "train.clip_value=1",
        "precision.param=float16",
        "precision={param: float16, reduce: float32}",
        "scaler.enabled=true",
        "scaler={enabled: true, initial_scale: 1024, interval: 5}",
        "model.frozen=[model.embed_tokens]"}) {
    INFO(set);
    CHECK(result_of({set}) == "");
  }
  CHECK(result_of({"cluster.ranks=1", "parallel.strategy=none"}) == "");
  CHECK(result_of({"model.dtype=float16", "scaler.enabled=false"}) == "");
  CHECK(result_of({"cluster.ranks=4", "parallel.reshard_after_forward=2"}) == "");
  CHECK(result_of({"model.implementation=eager"}) == "");
  CHECK(result_of({"model.loss={kind: chunked, chunks: 2}"}) == "");
  CHECK(result_of({"model.loss={kind: chunked, chunks: 2, over: vocabulary}", "model.dtype=float16",
                   "scaler.enabled=false"}) == "");
  CHECK(result_of({"parallel.reshard_after_backward=false", "train.accumulation=2"}) == "");
  CHECK(result_of({"cluster.ranks=4", "parallel.mesh.replicate=2", "parallel.requires_all_reduce=false",
                   "train={accumulation: 2, sync: every}"}) == "");
  CHECK(result_of({"parallel.strategy=fsdp1", "precision={param: bfloat16, buffer: bfloat16}"}) == "");
}

TEST_CASE("supported: what is not built yet is refused at its place") {
  for (const char* set :
       {"parallel={strategy: zero2, zero: {contiguous_gradients: false}}",
        "parallel={strategy: zero3, zero: {zero_quantized_nontrainable_weights: true}}",
        "parallel.wrap.overrides=[{match: {path: x}, settings: {offload.parameters: cpu}}]",
        "parallel.wrap.overrides=[{match: {path: x}, settings: {activation.checkpoint: full}}]",
        "precision.autocast=float32", "activation.partition=true", "offload={parameters: cpu, ratio: 50%}",
        "train.optimizer=adafactor", "train.nan_check=true", "train.optimizer_in_backward=true",
        "train.evaluation.batches=5", "train.pin_batches=false", "train.epochs=1", "train.steps=5",
        "limits.gpus=8", "cluster.host.cores=4"}) {
    const std::string error = result_of({set});
    INFO(set << " -> " << error);
    CHECK(error.find("not supported yet: ") != std::string::npos);
    CHECK(error.substr(0, 6) == "--set ");
  }
  CHECK_THAT(result_of({"offload={parameters: nvme}", "cluster.nvme.path=/x"}),
             test::contains_text("not supported yet: nvme"));
  CHECK_THAT(
      result_of({"model.dtype=float16", "scaler.enabled=false", "model.loss={kind: chunked, chunks: 2}"}),
      test::contains_text("model.loss.over: not supported yet: tokens with float16"));
  CHECK_THAT(result_of({"cluster={gpu: H100-SXM, gpus_per_node: 2}", "launch.backend=gloo"}),
             test::contains_text("launch.backend: not supported yet: gloo on GPUs"));
  CHECK_THAT(result_of({"parallel={strategy: ddp, ddp: {static_graph: true}}"}),
             test::contains_text("not supported yet"));
  CHECK_THAT(result_of({"cluster.ranks=4", "parallel.mesh={shard: 2, tensor: 2}"}),
             test::contains_text("parallel.mesh.tensor: not supported yet: 2"));
}

TEST_CASE("supported: what is only predicted is refused where a run begins") {
  for (const char* set :
       {"model.attention=triton", "model.attention=flash3", "model.attention=efficient",
        "parallel.initialization=cpu", "train.evaluation.every=5", "train.data_workers=4",
        "checkpoint.path=x", "checkpoint.type=sharded", "model.loss.held_logits=float32",
        "model.loss.shift=logits", "cluster={node: dgx-h100, suppose: {memory: 2}}",
        "precision.autocast=float16", "parallel={strategy: fsdp1, sync_module_states: true}",
        "train.optimizer_paged=true", "train.optimizer=adamw_8bit"}) {
    INFO(set);
    CHECK(result_of({set}) == "");
    const auto scenario = parse_scenario(k_base, "a.yaml", std::vector<std::string>{set});
    REQUIRE_OK(scenario);
    const Status runs = check_runs(*scenario);
    REQUIRE_FALSE(runs);
    CHECK_THAT(to_string(runs.error()), test::contains_text("is predicted, and not run yet"));
  }
}

}  // namespace
}  // namespace shardlab
