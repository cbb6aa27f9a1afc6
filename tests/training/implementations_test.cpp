// Eager operators and chunked losses compute what fused operators and the plain loss compute, however a model
// is sharded.
#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

constexpr int k_steps = 3;
const std::vector<std::string> k_sgd{"train.optimizer=sgd", "train.learning_rate=0.1",
                                     "train.weight_decay=0"};

Trained train_or_fail(const std::vector<std::string>& overrides) {
  Result<Trained> trained = train(planned_text(k_small_model, joined(k_sgd, overrides)), k_steps);
  REQUIRE_OK(trained);
  return *std::move(trained);
}

void require_same(const Trained& one, const Trained& other, const std::string& name, double limit) {
  const WorstTensor gradients = worst_difference(one.gradients, other.gradients);
  const WorstTensor parameters = worst_difference(one.parameters, other.parameters);
  fmt::print("{:<75} gradients {:.1e} ({}), parameters {:.1e}\n", name, gradients.difference, gradients.name,
             parameters.difference);
  INFO(name);
  CHECK(gradients.difference <= limit);
  CHECK(parameters.difference <= limit);
  for (std::size_t step = 0; step < one.losses.size(); ++step)
    CHECK(one.losses[step] == Approx(other.losses[step]).epsilon(1e-6));
}

const std::vector<Spread> k_spreads{
    {"none"},
    {"none", 1, 4},
    {"ddp", 2, 2},
    {"fsdp1", 2, 2, "full_shard", "every"},
    {"fsdp2", 2, 1, "true"},
    {"fsdp2", 4, 2, "false"},
    {"native", 2, 2, "true"},
    {"fsdp2", 2, 1, "true", "last", {"activation.checkpoint=full"}},
    {"fsdp2", 2, 2, "true", "last", {"model.overrides.tie_word_embeddings=true"}},
    {"native", 2, 1, "true", "last", {"model.overrides.tie_word_embeddings=true"}},
    {"fsdp1", 2, 1, "full_shard", "last", {"model.overrides.tie_word_embeddings=true"}},
};

}  // namespace

TEST_CASE("compiled blocks and losses train as what they are made of") {
  const std::string eager = "model.implementation=eager";
  for (const Spread& spread : {Spread{"none"}, Spread{"ddp", 2, 2}, Spread{"fsdp2", 2, 1, "true"}}) {
    const Trained plain = train_or_fail(joined(spread.overrides(), {eager}));
    for (const std::vector<std::string>& compiled : {std::vector<std::string>{"model.compile=blocks"},
                                                     {"model.compile=blocks", "model.loss.compiled=true"},
                                                     {"model.compile=whole"}}) {
      const Trained other = train_or_fail(joined(joined(spread.overrides(), {eager}), compiled));
      require_same(other, plain, spread.name() + ", " + compiled.back(), 2e-6);
    }
  }
}

TEST_CASE("chunked losses train as the plain one") {
  for (const Spread& spread : k_spreads) {
    const Trained plain = train_or_fail(spread.overrides());
    for (const std::string loss :
         {"{kind: chunked, chunks: 5}", "{kind: chunked, over: vocabulary, chunks: 3}"}) {
      const Trained chunked = train_or_fail(joined(spread.overrides(), {"model.loss=" + loss}));
      require_same(chunked, plain, spread.name() + ", " + loss, 2e-6);
    }
  }
}

TEST_CASE("chunked losses train with frozen parameters around them") {
  for (const std::string frozen : {"[lm_head]", "[model.embed_tokens, model.layers, model.norm]"}) {
    const std::vector<std::string> settings{"parallel.strategy=fsdp2", "cluster.ranks=2",
                                            "train.micro_batch=4", "model.frozen=" + frozen};
    const Trained plain = train_or_fail(settings);
    for (const std::string over : {"tokens", "vocabulary"}) {
      const Trained chunked =
          train_or_fail(joined(settings, {"model.loss={kind: chunked, chunks: 4, over: " + over + "}"}));
      require_same(chunked, plain, "frozen " + frozen + ", over " + over, 2e-6);
    }
  }
}

TEST_CASE("chunked losses train in bfloat16 and, over the vocabulary, with a scaled loss") {
  const std::vector<std::string> settings{"parallel.strategy=fsdp2", "cluster.ranks=2", "train.micro_batch=4",
                                          "precision.reduce=float32"};
  for (const std::string param : {"bfloat16", "float16"}) {
    const std::vector<std::string> narrow = joined(settings, {"precision.param=" + param});
    const Trained plain = train_or_fail(narrow);
    for (const std::string over : {"tokens", "vocabulary"}) {
      if (param == "float16" && over == "tokens") continue;  // refused
      const Trained chunked =
          train_or_fail(joined(narrow, {"model.loss={kind: chunked, chunks: 4, over: " + over + "}"}));
      const WorstTensor gradients = worst_difference(chunked.gradients, plain.gradients);
      INFO(param << " over " << over << ": " << gradients.name << " " << gradients.difference);
      CHECK(gradients.difference <= (param == "bfloat16" ? 3e-2 : 4e-3));  // rounded part by part
      CHECK(chunked.losses.front() == Approx(plain.losses.front()).epsilon(1e-5));
    }
  }
}

TEST_CASE("eager operators train as fused ones") {
  for (const Spread& spread : k_spreads) {
    const Trained fused = train_or_fail(spread.overrides());
    const Trained eager = train_or_fail(joined(spread.overrides(), {"model.implementation=eager"}));
    require_same(eager, fused, spread.name(), 1e-5);
  }
}

}  // namespace shardlab::test
