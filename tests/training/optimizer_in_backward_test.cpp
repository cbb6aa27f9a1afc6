// An optimizer within backward trains what one behind it trains.
#include "tests/catch.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

Trained train_or_fail(const std::vector<std::string>& overrides) {
  Result<Trained> trained = train(planned_text(k_small_model, overrides), 4);
  REQUIRE_OK(trained);
  return *std::move(trained);
}

}  // namespace

TEST_CASE("an optimizer within backward trains bit by bit what one behind it trains") {
  const std::vector<Spread> spreads{
      {"none"},
      {"native", 1, 1, "true"},
      {"native", 1, 1, "true", "last", {"precision={param: bfloat16, reduce: float32}"}},
      {"native", 2, 1, "true"},
      {"native", 2, 1, "false", "last", {"activation.checkpoint=full"}},
      {"native", 2, 1, "true", "last", {"precision={param: bfloat16, reduce: float32}"}},
      {"native", 4, 1, "true", "last", {"parallel.mesh.replicate=2"}},
      {"native",
       2,
       1,
       "true",
       "last",
       {"parallel.mesh.replicate=2", "model.overrides.tie_word_embeddings=true"}},
  };
  for (const Spread& spread : spreads) {
    for (const std::string optimizer : {"train.optimizer=adamw", "train.optimizer=sgd"}) {
      INFO(spread.name() << ", " << optimizer);
      const std::vector<std::string> settings = joined(spread.overrides(), {optimizer});
      const Trained behind = train_or_fail(settings);
      const Trained within = train_or_fail(joined(settings, {"train.optimizer_in_backward=true"}));
      CHECK(bitwise_equal(within.parameters, behind.parameters));
      CHECK(within.losses == behind.losses);
    }
  }
}

}  // namespace shardlab::test
