// Dropout trains the same however sequences are dealt out to ranks and micro-batches, and however often a
// forward pass is run again: a sequence's masks are its own.
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/training/family_scenario.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

constexpr int k_steps = 3;
const std::vector<std::string> k_sgd{"train.optimizer=sgd", "train.learning_rate=0.1",
                                     "train.weight_decay=0"};

Trained train_or_fail(const std::string& scenario, const std::vector<std::string>& overrides) {
  Result<Trained> trained = train(planned_text(scenario, overrides), k_steps);
  REQUIRE_OK(trained);
  return *std::move(trained);
}

void require_same(const Trained& one, const Trained& other) {
  const WorstTensor gradients = worst_difference(one.gradients, other.gradients);
  INFO(gradients.name);
  CHECK(gradients.difference <= 5e-6);
  CHECK(worst_difference(one.parameters, other.parameters).difference <= 5e-6);
  for (std::size_t step = 0; step < one.losses.size(); ++step)
    CHECK(one.losses[step] == Approx(other.losses[step]).epsilon(1e-6));
}

const std::vector<Spread>& spreads() {
  static const std::vector<Spread> list{
      {"none", 1, 4},
      {"none", 1, 1, "", "last", {"activation.checkpoint=full"}},
      {"ddp", 2, 2},
      {"fsdp1", 2, 2, "full_shard", "every"},
      {"fsdp1", 4, 1, "hybrid_shard"},
      {"fsdp2", 4, 2, "false"},
      {"fsdp2", 2, 1, "true", "last", {"activation={checkpoint: full, placement: outside}"}},
      {"native", 2, 2, "true"},
      {"zero1", 2, 2},
      {"zero2", 4, 2},
      {"zero3", 2, 1, "", "last", {"activation.checkpoint=full"}},
  };
  return list;
}

}  // namespace

TEST_CASE("dropout of attention and of adapters trains sharded as unsharded") {
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{"model.dropout=20%", "model.attention=unfused"},
        {"model.dropout=20%", "model.attention=eager", "model.implementation=eager"},
        {"model.dropout=20%", "model.attention=math", "model.implementation=eager"},
        {"model.lora={rank: 2, targets: [q_proj, down_proj], dropout: 0.3}"}}) {
    const std::vector<std::string> dropped = joined(k_sgd, settings);
    const Trained whole = train_or_fail(k_small_model, dropped);
    const bool adapters = settings.back().starts_with("model.lora");
    for (const Spread& spread : spreads()) {
      if (adapters && spread.strategy == "native") continue;  // which has none
      INFO(spread.name() << ", " << settings.back());
      require_same(train_or_fail(k_small_model, joined(dropped, spread.overrides())), whole);
    }
  }
}

// All places where modules of the families drop anything.
TEST_CASE("dropout of hidden states trains sharded as unsharded, and is there") {
  for (const auto& [family, settings] : {std::pair<std::string, std::vector<std::string>>{
                                             "gpt2", {"model.dropout=10%", "model.attention=unfused"}},
                                         {"phi", {"model.dropout=10%", "model.attention=unfused"}},
                                         {"falcon_new", {"model.overrides={hidden_dropout: 0.1}"}}}) {
    const std::string scenario = family_scenario(data_file("families/" + family + ".json").string());
    const Trained whole = train_or_fail(scenario, settings);
    CHECK(std::abs(whole.losses[0] - train_or_fail(scenario, {}).losses[0]) > 1e-5);
    CHECK(whole.losses[0] != train_or_fail(scenario, joined(settings, {"train.seed=9"})).losses[0]);
    for (const std::vector<std::string>& way :
         {std::vector<std::string>{"parallel.strategy=fsdp2", "cluster.ranks=2", "train.micro_batch=2",
                                   "activation.checkpoint=full"},
          {"parallel.strategy=ddp", "cluster.ranks=4", "train.micro_batch=1"}}) {
      INFO(family << ", " << way.front());
      require_same(train_or_fail(scenario, joined(settings, way)), whole);
    }
  }
}

}  // namespace shardlab::test
