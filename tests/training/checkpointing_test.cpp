// Activation checkpointing changes when tensors are made, not one bit of them.
#include "tests/catch.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

constexpr int k_steps = 3;
const std::vector<std::string> k_adamw = {"train.optimizer=adamw", "train.clip_norm=1.0"};
const std::string k_inner_units = "parallel.wrap={policy: module, classes: [LlamaAttention, LlamaMLP]}";
const std::string k_nested_units =
    "parallel.wrap={policy: module, classes: [LlamaDecoderLayer, LlamaAttention, LlamaMLP]}";

Trained train_or_fail(const std::vector<std::string>& overrides) {
  Result<Trained> trained = train(planned_text(k_small_model, overrides), k_steps);
  REQUIRE_OK(trained);
  return *std::move(trained);
}

std::vector<std::string> checkpointed(const std::vector<std::string>& settings,
                                      const std::vector<std::string>& how) {
  return joined(joined(settings, {"activation.checkpoint=full"}),
                how);  // what a way says of it comes later, and counts
}

int recomputations(const std::vector<std::string>& overrides) {
  int count = 0;
  for (const Instruction& instruction : planned_text(k_small_model, overrides).plan.steady.instructions) {
    count += instruction.kind == InstructionKind::Recompute ? 1 : 0;
  }
  return count;
}

// Trains with and without; the plan does run something again.
void check_same(const std::vector<std::string>& settings, const std::vector<std::vector<std::string>>& ways) {
  const Trained plain = train_or_fail(settings);
  for (const std::vector<std::string>& way : ways) {
    const std::vector<std::string> all = checkpointed(settings, way);
    for (const std::string& text : all) UNSCOPED_INFO(text);
    REQUIRE(recomputations(all) > 0);
    const Trained again = train_or_fail(all);
    CHECK(again.losses == plain.losses);
    CHECK(again.gradient_norms == plain.gradient_norms);
    CHECK(bitwise_equal(again.gradients, plain.gradients));
    CHECK(bitwise_equal(again.parameters, plain.parameters));
  }
}

const std::vector<std::vector<std::string>> k_inside = {
    {}, {"activation.every=2"}, {"activation.reentrant=true"}};
const std::vector<std::vector<std::string>> k_everywhere = {
    {},
    {"activation.reentrant=true"},
    {"activation.placement=outside"},
    {"activation.placement=outside", "activation.reentrant=true"},
    {"activation.placement=outside", "activation.reentrant=true", "activation.every=2"}};

}  // namespace

TEST_CASE("checkpointed equals plain bit by bit: one process") {
  check_same(k_adamw, k_inside);
  check_same(joined(k_adamw, {"train.accumulation=2", "train.micro_batch=4"}), k_inside);
  check_same(joined(k_adamw, {"parallel.strategy=fsdp2", "parallel.wrap.policy=none"}), k_inside);
  check_same(joined(k_adamw, {"parallel.strategy=fsdp2", k_inner_units}), k_inside);
  check_same(joined(k_adamw, {"model.dtype=bfloat16"}), {{}, {"activation.reentrant=true"}});
}

TEST_CASE("checkpointed equals plain bit by bit: frozen parameters") {
  check_same(joined(k_adamw, {"model.frozen=[model.embed_tokens, model.layers.0]"}), {{}});
  check_same(
      joined(k_adamw, {"model.frozen=['**.mlp', model.layers.1.self_attn.q_proj, '**.input_layernorm']"}),
      k_inside);
  check_same(joined(k_adamw,
                    joined({"model.frozen=[model.embed_tokens]"}, Spread{"fsdp2", 2, 1, "true"}.overrides())),
             {{}, {"activation.placement=outside"}});
}

TEST_CASE("checkpointed equals plain bit by bit: what waits in host memory") {
  const std::vector<std::vector<std::string>> ways = {
      {"activation.offload=cpu"},
      {"activation.offload=cpu", "activation.every=2"},
      {"activation.offload=cpu", "activation.reentrant=true"},
      {"activation={checkpoint: selective, operators: [linear, attention], offload: cpu}"}};
  check_same(joined(k_adamw, {"train.accumulation=2", "train.micro_batch=4"}), ways);
  check_same(joined(k_adamw, {"parallel.strategy=fsdp2", k_inner_units}), ways);
  check_same(joined(k_adamw, {"model.implementation=eager", "model.dtype=bfloat16"}), {ways[0], ways[2]});
  check_same(joined(k_adamw, {"model.frozen=[model.embed_tokens, model.layers.0]"}), {ways[0]});
  for (const Spread& spread : {Spread{"fsdp2", 2, 1, "true"}, Spread{"fsdp1", 2, 1, "full_shard"},
                               Spread{"ddp", 2, 2}, Spread{"zero3", 2, 1}, Spread{"native", 2, 1, "true"}})
    check_same(joined(k_adamw, spread.overrides()), {ways[0], ways[2]});
  check_same(joined(k_adamw, joined({"offload.parameters=cpu"}, Spread{"fsdp2", 2, 1, "true"}.overrides())),
             {ways[0], {"activation.offload=cpu", "activation.placement=outside"}});
}

TEST_CASE("checkpointed equals plain bit by bit: what is retained") {
  const auto keep = [](const std::string& kinds, const std::string& more = "") {
    return "activation={checkpoint: selective, operators: [" + kinds + "]" + more + "}";
  };
  const std::vector<std::vector<std::string>> ways = {{keep("linear, attention")},
                                                      {keep("linear/2, attention")},
                                                      {keep("attention", ", every: 2")},
                                                      {keep("rms_norm, swiglu, add, rope")},
                                                      {keep("linear, attention, swiglu, add, rope")}};
  check_same(k_adamw, ways);
  check_same(joined(k_adamw, {"model.dtype=bfloat16"}), ways);
  check_same(joined(k_adamw, {"parallel.strategy=fsdp2", k_inner_units}), ways);
  check_same(joined(k_adamw, {"model.lora={rank: 2, targets: [q_proj, up_proj]}"}),
             {{keep("linear, linear_add")}, {keep("linear/2")}});
  check_same(joined(k_adamw, joined({"parallel.ddp={bucket_size: 32KiB, first_bucket_size: 8KiB}"},
                                    Spread{"ddp", 2, 2}.overrides())),
             ways);
  check_same(joined(k_adamw, Spread{"fsdp2", 2, 1, "true"}.overrides()),
             {ways[0], ways[1], {keep("linear, attention", ", placement: outside")}});
  check_same(joined(k_adamw, Spread{"fsdp1", 2, 2, "full_shard"}.overrides()),
             {ways[0], ways[1], {keep("linear, attention", ", placement: outside")}});
}

TEST_CASE("checkpointed equals plain bit by bit: replicas with small buckets") {
  const std::vector<std::string> buckets = {"parallel.ddp.bucket_size=32KiB",
                                            "parallel.ddp.first_bucket_size=8KiB"};
  check_same(joined(joined(k_adamw, buckets), Spread{"ddp", 2}.overrides()), k_inside);
  check_same(joined(joined(k_adamw, buckets), Spread{"ddp", 4, 2}.overrides()), {{}});
}

TEST_CASE("checkpointed equals plain bit by bit: inside and outside of units") {
  check_same(joined(k_adamw, Spread{"fsdp2", 2, 1, "true"}.overrides()), k_everywhere);
  check_same(joined(k_adamw, Spread{"fsdp2", 4, 2, "false"}.overrides()), k_everywhere);
  check_same(joined(k_adamw, Spread{"fsdp1", 2, 1, "full_shard"}.overrides()), k_everywhere);
  check_same(joined(k_adamw, Spread{"fsdp1", 4, 2, "shard_grad_op"}.overrides()), k_everywhere);
  check_same(joined(k_adamw, Spread{"fsdp1", 4, 2, "hybrid_shard", "every"}.overrides()), k_everywhere);
  check_same(joined(joined(k_adamw, {"precision={param: bfloat16, reduce: float32}"}),
                    Spread{"fsdp2", 2, 2, "true", "every"}.overrides()),
             k_everywhere);
  check_same(joined(joined(k_adamw, {"precision={param: bfloat16, reduce: float32}"}),
                    Spread{"fsdp1", 2, 2, "no_shard"}.overrides()),
             k_everywhere);
}

TEST_CASE("checkpointed equals plain bit by bit: around several units, and units within units") {
  const std::vector<std::string> fsdp2 = Spread{"fsdp2", 2, 1, "true"}.overrides();
  const std::vector<std::string> fsdp1 = Spread{"fsdp1", 2, 1, "full_shard"}.overrides();
  check_same(joined(joined(k_adamw, {k_inner_units}), fsdp2), {{}, {"activation.reentrant=true"}});
  check_same(joined(joined(k_adamw, {k_inner_units}), fsdp1), {{}});
  check_same(joined(joined(k_adamw, {k_nested_units}), fsdp2), k_everywhere);
  check_same(joined(joined(k_adamw, {k_nested_units}), fsdp1), k_everywhere);
  check_same(joined(joined(k_adamw, {k_nested_units, "parallel.prefetch.forward=true"}), fsdp1),
             k_everywhere);
  check_same(
      joined(joined(k_adamw, {k_nested_units, "parallel.prefetch={forward_depth: 1, backward_depth: 2}"}),
             fsdp2),
      k_everywhere);
}

}  // namespace shardlab::test
