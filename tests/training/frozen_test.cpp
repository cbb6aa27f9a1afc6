// Frozen parameters stay what they are, and the others train as if nothing else had changed.
#include <ATen/ops/equal.h>

#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

constexpr int k_steps = 5;

struct Case {
  std::string name;
  std::string patterns;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"lower", "[model.embed_tokens, model.layers.0]"},
      {"middle", "[model.layers.1]"},
      {"inside units", "[model.norm, '**.q_proj', '**.up_proj', '**.input_layernorm']"},
      {"all but norms", "[model.embed_tokens, '**.*_proj', lm_head]"},
      {"all but the head", "[model]"},
  };
  return list;
}

Trained train_or_fail(const std::vector<std::string>& overrides) {
  Result<Trained> trained = train(planned_text(k_small_model, overrides), k_steps);
  REQUIRE_OK(trained);
  return *std::move(trained);
}

std::vector<std::string> settings(const Case& frozen, const std::vector<std::string>& more) {
  return joined({"model.frozen=" + frozen.patterns}, more);
}

const std::vector<std::string> k_sgd = {"train.optimizer=sgd", "train.learning_rate=0.1",
                                        "train.weight_decay=0.1"};
const std::vector<std::string> k_adamw = {"train.optimizer=adamw", "train.clip_norm=1.0"};

}  // namespace

TEST_CASE("gradients of trained parameters do not depend on what is frozen, frozen parameters do not move") {
  const Trained free = train_or_fail(k_sgd);
  for (const Case& frozen : cases()) {
    INFO(frozen.name);
    const Trained trained = train_or_fail(settings(frozen, k_sgd));
    CHECK(trained.losses.front() == free.losses.front());
    CHECK(trained.gradients.size() < free.gradients.size());
    for (const auto& [name, gradient] : trained.gradients)
      CHECK(at::equal(gradient, free.gradients.at(name)));
    for (const auto& [name, value] : trained.parameters) {
      INFO(name);
      CHECK(at::equal(value, trained.initial.at(name)) == (trained.gradients.count(name) == 0));
    }
  }
}

TEST_CASE("frozen parameters have no gradient, no state and no part in reductions") {
  for (const Spread& spread :
       {Spread{"none"}, Spread{"ddp", 2}, Spread{"fsdp2", 2, 1, "true"}, Spread{"fsdp2", 2, 2, "false"}}) {
    for (const Case& frozen : cases()) {
      INFO(spread.name() << ", " << frozen.name);
      const PlannedScenario planned =
          planned_text(k_small_model, settings(frozen, joined(k_adamw, spread.overrides())));
      std::int64_t states = 0;
      for (const Buffer& buffer : planned.plan.steady.buffers) {
        if (buffer.buffer_class == BufferClass::parameter ||
            buffer.buffer_class == BufferClass::parameter_shard ||
            buffer.buffer_class == BufferClass::gathered_parameters ||
            buffer.buffer_class == BufferClass::gather_buffer)
          continue;
        for (const ParameterId id : buffer.parameters) CHECK(planned.graph.parameter(id).trainable);
        if (buffer.role == BufferRole::exp_avg) states += buffer.elements;
      }
      CHECK(states * spread.ranks >= trainable_parameters(planned.graph));
      if (spread.ranks == 1 || spread.strategy == "ddp") CHECK(states == trainable_parameters(planned.graph));
    }
  }
}

namespace {

// Every way to shard that knows frozen parameters.
const std::vector<Spread>& spreads() {
  static const std::vector<Spread> list = {
      Spread{"ddp", 2},
      Spread{"ddp", 4, 2},
      Spread{"fsdp2", 2, 1, "true"},
      Spread{"fsdp2", 4, 1, "false"},
      Spread{"fsdp2", 2, 2, "true"},
      Spread{"fsdp2", 4, 2, "true", "every"},
      Spread{"fsdp1", 2, 1, "full_shard"},
      Spread{"fsdp1", 4, 2, "shard_grad_op"},
      Spread{"fsdp1", 2, 2, "full_shard", "every"},
      Spread{"fsdp1", 2, 2, "no_shard"},
      Spread{"fsdp1", 4, 1, "hybrid_shard"},
      Spread{"fsdp1", 2, 1, "full_shard", "last", {"parallel.prefetch={forward: true, backward: post}"}},
      Spread{"zero0", 2, 2},
      Spread{"zero1", 2, 2},
      Spread{"zero2", 4, 1, "", "last", {"parallel.zero={reduce_bucket_size: 9000}"}},
      Spread{
          "zero3", 4, 2, "", "last", {"parallel.zero={stage3_max_reuse_distance: 0, sub_group_size: 2000}"}},
      Spread{"zero3", 2, 1, "", "last", {"offload={optimizer: cpu, parameters: cpu}"}}};
  return list;
}

// What one process trains with the case frozen, to compare with.
struct Whole {
  explicit Whole(const Case& frozen)
      : by_sgd(train_or_fail(settings(frozen, k_sgd))), clipped(train_or_fail(settings(frozen, k_adamw))) {}
  Trained by_sgd, clipped;
};

void compare(const Case& frozen, const Spread& spread, const Whole& whole) {
  INFO(spread.name() << ", " << frozen.name);
  const Trained sharded = train_or_fail(settings(frozen, joined(k_sgd, spread.overrides())));
  CHECK(worst_difference(sharded.gradients, whole.by_sgd.gradients).difference <= 1e-6);
  CHECK(worst_difference(sharded.parameters, whole.by_sgd.parameters).difference <= 1e-6);
  const Trained adam = train_or_fail(settings(frozen, joined(k_adamw, spread.overrides())));
  REQUIRE(adam.gradient_norms.size() == k_steps);
  for (std::size_t step = 0; step < k_steps; ++step) {
    CHECK(adam.gradient_norms[step] == Approx(whole.clipped.gradient_norms[step]).epsilon(1e-5));
    CHECK(adam.losses[step] == Approx(whole.clipped.losses[step]).epsilon(1e-6));
  }
}

// Every spread with every `apart`-th case, a later one from spread to spread.
void compare_all(std::size_t apart) {
  for (std::size_t c = 0; c < cases().size(); ++c) {
    const Whole whole(cases()[c]);
    for (std::size_t s = c % apart; s < spreads().size(); s += apart)
      compare(cases()[c], spreads()[s], whole);
  }
}

}  // namespace

TEST_CASE("sharded equals unsharded with frozen parameters") {
  compare_all(4);
}

// Minutes: for changes of what is frozen.
TEST_CASE("sharded equals unsharded with every frozen part under every spread", "[.nightly]") {
  compare_all(1);
}

TEST_CASE("ignored modules are whole on every rank and change nothing else") {
  const Case frozen{"ignored", "[model.embed_tokens, model.layers.1, model.layers.2.mlp]"};
  const Trained whole = train_or_fail(settings(frozen, k_adamw));
  for (const Spread& spread : {Spread{"fsdp1", 2, 2, "full_shard"}, Spread{"fsdp1", 4, 1, "shard_grad_op"},
                               Spread{"fsdp2", 4, 1, "true"}, Spread{"fsdp2", 2, 2, "false", "every"}}) {
    INFO(spread.name());
    const std::vector<std::string> ignored{
        "parallel.wrap.ignored=[model.embed_tokens, model.layers.1, model.layers.2.mlp]"};
    const Trained sharded =
        train_or_fail(settings(frozen, joined(joined(k_adamw, spread.overrides()), ignored)));
    CHECK(bitwise_equal(sharded.initial, whole.initial));
    for (std::size_t step = 0; step < k_steps; ++step) {
      CHECK(sharded.gradient_norms[step] == Approx(whole.gradient_norms[step]).epsilon(1e-5));
      CHECK(sharded.losses[step] == Approx(whole.losses[step]).epsilon(1e-6));
    }
  }
}

// The states of the rank that has most of them.
TEST_CASE("fsdp1 keeps states for the trained parts of a flat parameter") {
  for (const Case& frozen : cases()) {
    INFO(frozen.name);
    const PlannedScenario planned = planned_text(
        k_small_model, settings(frozen, joined(k_adamw, Spread{"fsdp1", 4, 1, "full_shard"}.overrides())));
    std::int64_t states = 0;
    for (const Buffer& buffer : planned.plan.steady.buffers) {
      if (buffer.role == BufferRole::exp_avg) states += buffer.elements;
    }
    CHECK(states * 4 >= trainable_parameters(planned.graph));
    CHECK(states <= (total_parameters(planned.graph) + 3) / 4);
  }
}

TEST_CASE("one flat tensor is frozen as a whole or not at all") {
  const auto planned_with = [](const std::string& frozen) {
    const std::vector<std::string> overrides{"model.frozen=" + frozen,
                                             "parallel={strategy: fsdp1, use_orig_params: false}",
                                             "cluster.ranks=2", "train.micro_batch=4"};
    return plan_scenario(*parse_scenario(k_small_model, "small.yaml", overrides));
  };
  const Result<PlannedScenario> mixed = planned_with("[model.embed_tokens]");
  REQUIRE_FALSE(mixed);
  CHECK(to_string(mixed.error()) ==
        "parallel.use_orig_params: false flattens root into one parameter, of which "
        "model.embed_tokens.weight is frozen and others are "
        "not (set it to true, or let parallel.wrap make units that are frozen as a whole)");
  CHECK(planned_with("[model.layers.0]").has_value());
}

TEST_CASE("every optimizer leaves frozen parameters alone") {
  const Case inside = cases()[2];
  for (const std::string optimizer :
       {"{optimizer: sgd, momentum: 0.9, weight_decay: 0.1", "{optimizer: adam, weight_decay: 0.1"}) {
    Trained fused;
    for (const std::string implementation : {"fused", "foreach", "loop"}) {
      INFO(optimizer << " " << implementation);
      const std::string train = "train=" + optimizer + ", optimizer_implementation: " + implementation +
                                ", data: assets/data/licenses.txt, micro_batch: 4}";
      const Trained trained =
          train_or_fail(settings(inside, {train, "parallel.strategy=fsdp2", "cluster.ranks=2"}));
      for (const auto& [name, value] : trained.parameters) {
        CHECK(at::equal(value, trained.initial.at(name)) == (trained.gradients.count(name) == 0));
      }
      if (fused.parameters.empty()) fused = trained;
      CHECK(worst_difference(trained.parameters, fused.parameters).difference <= 1e-5);
    }
  }
}

}  // namespace shardlab::test
