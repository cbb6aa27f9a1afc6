// A student trains the same however it and its teacher are spread, and the teacher stays what it is.
#include <ATen/ops/equal.h>
#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

constexpr int k_steps = 4;

// A teacher of tests/data/families, with the small model's vocabulary; `settings`: more of its keys.
std::vector<std::string> teacher(const std::string& family, const std::vector<std::string>& settings = {}) {
  std::vector<std::string> overrides{
      "distillation.teacher.config=" + data_file("families/" + family + ".json").string(),
      "distillation.teacher.overrides={vocab_size: 257}", "distillation.temperature=2",
      "distillation.weight=0.7", "train.clip_norm=1.0"};
  for (const std::string& setting : settings) overrides.push_back("distillation.teacher." + setting);
  return overrides;
}

Trained train_or_fail(const std::vector<std::string>& overrides) {
  Result<Trained> trained = train(planned_text(k_small_model, overrides), k_steps);
  REQUIRE_OK(trained);
  return *std::move(trained);
}

struct Way {
  Spread student;
  std::vector<std::string> teacher;
  std::vector<std::string> more = {};
  std::string name() const { return fmt::format("{}; teacher {}", student.name(), teacher.front()); }
};

const std::vector<Way>& ways() {
  static const std::vector<Way> list = {
      {{"fsdp2", 2, 1, "true"}, {"parallel.strategy=fsdp2"}},
      {{"fsdp2", 2, 2, "true"}, {"parallel={strategy: fsdp2, reshard_after_forward: true}"}},
      {{"fsdp2", 2, 2, "false", "every"}, {"parallel={strategy: fsdp2, reshard_after_forward: false}"}},
      {{"fsdp2", 4, 1, "2"}, {"parallel={strategy: fsdp2, reshard_after_forward: 2}"}},
      {{"fsdp2", 4, 2, "true"}, {"parallel={strategy: fsdp2, mesh: {replicate: 2}}"}},
      {{"fsdp2", 2, 1, "true"}, {"parallel.strategy=none"}, {"activation.checkpoint=full"}},
      {{"fsdp2", 2, 2, "true"},
       {"parallel.strategy=fsdp1"},
       {"activation={checkpoint: full, placement: outside}"}},
      {{"fsdp1", 2, 2, "full_shard"}, {"parallel={strategy: fsdp1, prefetch: {forward: true}}"}},
      {{"fsdp1", 2, 1, "full_shard"},
       {"parallel={strategy: fsdp2, wrap: {policy: none}}"},
       {"activation.checkpoint=full"}},
      {{"fsdp1", 4, 2, "hybrid_shard"}, {"parallel={strategy: fsdp1, sharding: shard_grad_op}"}},
      {{"fsdp1", 2, 1, "no_shard"}, {"parallel={strategy: native, reshard_after_forward: true}"}},
      {{"ddp", 2, 2, ""}, {"parallel.strategy=fsdp2"}},
      {{"ddp", 2, 1, ""}, {"parallel.strategy=none"}},
      {{"native", 2, 2, "true"}, {"parallel.strategy=native"}, {"activation.checkpoint=full"}},
      {{"native", 4, 1, "true"},
       {"parallel={strategy: native, mesh: {replicate: 2}, prefetch: {forward_depth: 2}}"}},
  };
  return list;
}

// Only trained parameters have gradients: a teacher's gradient has no buffer.
void check_teacher_is_what_it_was(const Trained& trained) {
  std::size_t teachers = 0;
  for (const auto& [name, value] : trained.parameters) {
    const bool is_teachers = name.starts_with("teacher.");
    teachers += is_teachers ? 1 : 0;
    CHECK((trained.gradients.count(name) == 0) == is_teachers);
    if (is_teachers) CHECK(at::equal(value, trained.initial.at(name)));
  }
  CHECK(teachers > 0);
}

}  // namespace

TEST_CASE("distilled sharded equals distilled unsharded, whatever the strategies of the two") {
  for (const std::string family : {"gpt2", "qwen3_moe", "llama"}) {
    const Trained whole = train_or_fail(teacher(family));
    check_teacher_is_what_it_was(whole);
    REQUIRE(worst_difference(whole.parameters, whole.initial).difference > 1e-3);
    WorstTensor gradients, parameters;
    for (const Way& way : ways()) {
      INFO(family << ": " << way.name());
      const Trained sharded =
          train_or_fail(joined(joined(teacher(family, way.teacher), way.student.overrides()), way.more));
      check_teacher_is_what_it_was(sharded);
      CHECK(bitwise_equal(sharded.initial, whole.initial));
      const WorstTensor gradient = worst_difference(sharded.gradients, whole.gradients);
      CHECK(gradient.difference <= 2e-6);
      if (gradient.difference >= gradients.difference) gradients = gradient;
      REQUIRE(sharded.gradient_norms.size() == k_steps);
      for (std::size_t step = 0; step < k_steps; ++step) {
        CHECK(sharded.gradient_norms[step] == Approx(whole.gradient_norms[step]).epsilon(1e-5));
        CHECK(sharded.losses[step] == Approx(whole.losses[step]).epsilon(2e-6));
      }
    }
    fmt::print("teacher {:<10} {} ways: gradients {:.1e} ({}), loss {:.4f} to {:.4f}\n", family,
               ways().size(), gradients.difference, gradients.name, whole.losses.front(),
               whole.losses.back());
  }
}

// The teacher's head lies in its root, which stays gathered unless it is told to give it back.
TEST_CASE("a distillation over parts of the tokens learns what the plain one does, sharded and not") {
  const std::vector<std::string> in_parts{"model.loss={kind: chunked, chunks: 5}"};
  const Trained plain = train_or_fail(teacher("qwen3_moe"));
  WorstTensor worst;
  for (const Way& way :
       {Way{{"fsdp2", 2, 1, "true"}, {"parallel.strategy=fsdp2"}},
        Way{{"fsdp2", 4, 2, "true"}, {"parallel.strategy=none"}, {"activation.checkpoint=full"}},
        Way{{"fsdp1", 2, 2, "full_shard"}, {"parallel={strategy: fsdp1, sharding: shard_grad_op}"}},
        Way{{"ddp", 2, 1, ""}, {"parallel.strategy=native"}}}) {
    INFO(way.name());
    const Trained trained = train_or_fail(joined(
        joined(joined(teacher("qwen3_moe", way.teacher), way.student.overrides()), way.more), in_parts));
    check_teacher_is_what_it_was(trained);
    const WorstTensor gradient = worst_difference(trained.gradients, plain.gradients);
    CHECK(gradient.difference <= 4e-6);
    if (gradient.difference >= worst.difference) worst = gradient;
    for (std::size_t step = 0; step < k_steps; ++step)
      CHECK(trained.losses[step] == Approx(plain.losses[step]).epsilon(2e-6));
  }
  fmt::print("in parts: gradients {:.1e} ({})\n", worst.difference, worst.name);
}

TEST_CASE("distillation in bfloat16: teachers of either dtype, the losses of one process") {
  const std::vector<std::string> mixed{"precision={param: bfloat16, reduce: float32}"};
  const std::vector<std::string> one{"parallel={strategy: fsdp2}", "cluster.ranks=1"};
  for (const std::vector<std::string>& stored :
       {std::vector<std::string>{"dtype=bfloat16"}, {"precision={param: bfloat16}"}, {}}) {
    const auto settings = [&](const std::string& strategy) {
      return joined(joined(stored, {"parallel.strategy=" + strategy}), {});
    };
    const Trained whole = train_or_fail(joined(joined(teacher("gpt2", settings("fsdp2")), one), mixed));
    check_teacher_is_what_it_was(whole);
    for (const Spread& spread : {Spread{"fsdp2", 2, 2, "true"}, Spread{"fsdp1", 2, 1, "full_shard"},
                                 Spread{"native", 2, 1, "true"}}) {
      INFO(spread.name() << " " << (stored.empty() ? "float32" : stored.front()));
      const Trained sharded =
          train_or_fail(joined(joined(teacher("gpt2", settings(spread.strategy)), spread.overrides()),
                               joined(mixed, {"activation.checkpoint=full"})));
      for (std::size_t step = 0; step < k_steps; ++step)
        CHECK(sharded.losses[step] == Approx(whole.losses[step]).epsilon(5e-3));
    }
  }
}

TEST_CASE("the weight goes from the ordinary loss to the teacher's") {
  const auto loss_with = [](const std::string& weight, const std::string& temperature) {
    return train_or_fail(joined(teacher("llama"),
                                {"distillation.weight=" + weight, "distillation.temperature=" + temperature}))
        .losses[0];
  };
  const double ordinary = train_or_fail({"train.clip_norm=1.0"}).losses[0];
  const double half = loss_with("0.5", "1"), whole = loss_with("1", "1");
  CHECK(half == Approx((ordinary + whole) / 2).epsilon(1e-6));
  CHECK(loss_with("0.25", "1") == Approx(0.75 * ordinary + 0.25 * whole).epsilon(1e-6));
}

TEST_CASE("a scaled loss scales both terms") {
  const std::vector<std::string> sharded =
      joined(teacher("llama", {"parallel.strategy=fsdp1"}), Spread{"fsdp1", 2, 1, "full_shard"}.overrides());
  const Trained plain = train_or_fail(sharded);
  const Trained scaled = train_or_fail(joined(sharded, {"scaler={enabled: true, initial_scale: 1024}"}));
  for (std::size_t step = 0; step < k_steps; ++step) {
    CHECK(scaled.losses[step] == Approx(plain.losses[step]).epsilon(1e-5));
    CHECK(scaled.gradient_norms[step] == Approx(plain.gradient_norms[step]).epsilon(1e-4));
  }
}

}  // namespace shardlab::test
