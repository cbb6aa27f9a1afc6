// Sharding changes where numbers are, not what they are: every strategy trains like one process with the same
// global batch.
#include <fmt/format.h>

#include "engine/scenario/run_spec.h"
#include "tests/catch.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

constexpr int k_steps = 5;
constexpr double k_limit = 1e-6;  // of the largest element of each tensor

Trained train_or_fail(const std::vector<std::string>& overrides) {
  const PlannedScenario planned = planned_text(k_small_model, overrides);
  Result<Trained> trained = train(planned, k_steps);
  REQUIRE_OK(trained);
  return *std::move(trained);
}

void report(const std::string& what, const WorstTensor& worst) {
  fmt::print("{:<55} {:.2e}  {}\n", what, worst.difference, worst.name);
}

// A single process that sums the same global batch in pieces.
Trained train_in_pieces(const std::vector<std::string>& settings, int pieces) {
  return train_or_fail(joined(settings, {"train.micro_batch=" + std::to_string(8 / pieces),
                                         "train.accumulation=" + std::to_string(pieces)}));
}

// How far apart single-process runs end that differ in the order of their sums alone: in one, 2, 4 or 8
// pieces.
WorstTensor effect_of_order(const std::vector<std::string>& settings, const Trained& whole) {
  WorstTensor worst;
  for (const int pieces : {2, 4, 8}) {
    const WorstTensor order =
        worst_difference(train_in_pieces(settings, pieces).parameters, whole.parameters);
    report("none, " + std::to_string(pieces) + " pieces against one", order);
    if (order.difference > worst.difference) worst = order;
  }
  return worst;
}

}  // namespace

TEST_CASE("sharded equals unsharded: gradients of the first step and five steps of SGD") {
  const std::vector<std::string> settings{"train.optimizer=sgd", "train.learning_rate=0.1",
                                          "train.weight_decay=0"};
  const Trained whole = train_or_fail(settings);
  report("movement of the parameters", worst_difference(whole.parameters, whole.initial));
  report("gradients: none, summed in another order",
         worst_difference(train_in_pieces(settings, 8).gradients, whole.gradients));
  effect_of_order(settings, whole);
  REQUIRE(worst_difference(whole.parameters, whole.initial).difference > 1e-2);

  for (const Spread& spread : all_spreads()) {
    const Trained sharded = train_or_fail(joined(settings, spread.overrides()));
    const WorstTensor gradients = worst_difference(sharded.gradients, whole.gradients);
    const WorstTensor parameters = worst_difference(sharded.parameters, whole.parameters);
    report("gradients: " + spread.name(), gradients);
    report("parameters: " + spread.name(), parameters);
    INFO(spread.name() << ": gradient of " << gradients.name << ", parameter " << parameters.name);
    CHECK(bitwise_equal(sharded.initial, whole.initial));
    CHECK(gradients.difference <= k_limit);
    CHECK(parameters.difference <= k_limit);
    for (int step = 0; step < k_steps; ++step) {
      const auto at = static_cast<std::size_t>(step);
      CHECK(sharded.losses[at] == Approx(whole.losses[at]).epsilon(1e-6));
    }
  }
}

TEST_CASE("sharded equals unsharded: five steps of AdamW with clipping") {
  const std::vector<std::string> settings{"train.optimizer=adamw", "train.clip_norm=1.0"};
  const Trained whole = train_or_fail(settings);
  REQUIRE(whole.gradient_norms.size() == k_steps);
  REQUIRE(whole.gradient_norms.front() > 1.0);  // or nothing is clipped
  const WorstTensor order = effect_of_order(settings, whole);
  REQUIRE(order.difference > 0);
  REQUIRE(order.difference < 1e-2);

  for (const Spread& spread : all_spreads()) {
    const Trained sharded = train_or_fail(joined(settings, spread.overrides()));
    const WorstTensor parameters = worst_difference(sharded.parameters, whole.parameters);
    report("parameters: " + spread.name(), parameters);
    INFO(spread.name() << ": " << parameters.name << ", reordering alone " << order.difference << " in "
                       << order.name);
    CHECK(parameters.difference <= 3 * order.difference);
    REQUIRE(sharded.gradient_norms.size() == k_steps);
    for (int step = 0; step < k_steps; ++step) {
      const auto at = static_cast<std::size_t>(step);
      CHECK(sharded.gradient_norms[at] == Approx(whole.gradient_norms[at]).epsilon(1e-5));
    }
  }
}

TEST_CASE("sharded equals unsharded: SGD with momentum, and clipping by value") {
  for (const char* implementation : {"fused", "foreach", "loop"}) {
    const std::vector<std::string> settings{
        "train.optimizer=sgd",     "train.learning_rate=0.1",
        "train.weight_decay=0.01", "train.momentum=0.9",
        "train.clip_value=0.01",   std::string("train.optimizer_implementation=") + implementation};
    const Trained whole = train_or_fail(settings);
    REQUIRE(worst_difference(whole.parameters, whole.initial).difference > 1e-2);
    for (const Spread& spread :
         {Spread{"ddp", 2, 1, ""}, Spread{"fsdp2", 2, 2, "true"}, Spread{"fsdp2", 4, 1, "false"}}) {
      const WorstTensor parameters =
          worst_difference(train_or_fail(joined(settings, spread.overrides())).parameters, whole.parameters);
      report(std::string(implementation) + " momentum, parameters: " + spread.name(), parameters);
      CHECK(parameters.difference <= k_limit);
    }
  }
}

TEST_CASE("implementations of an optimizer differ in rounding alone") {
  for (const char* optimizer : {"adamw", "adam", "sgd"}) {
    std::vector<std::string> settings{std::string("train.optimizer=") + optimizer, "train.weight_decay=0.1",
                                      "train.epsilon=1e-4"};
    if (std::string(optimizer) == "sgd")
      settings = {"train.optimizer=sgd", "train.weight_decay=0.1", "train.momentum=0.9"};
    const Trained fused = train_or_fail(settings);
    for (const char* implementation : {"foreach", "loop"}) {
      const Trained other =
          train_or_fail(joined(settings, {std::string("train.optimizer_implementation=") + implementation}));
      const WorstTensor parameters = worst_difference(other.parameters, fused.parameters);
      report(std::string(optimizer) + ", fused against " + implementation, parameters);
      CHECK(parameters.difference <= 1e-5);
    }
  }
}

TEST_CASE("tied embeddings sharded equal unsharded") {
  const std::string bucket_views = "parallel.ddp={gradient_as_bucket_view: true, bucket_size: 32KiB}";
  const std::vector<std::string> settings{"train.optimizer=sgd", "train.learning_rate=0.1",
                                          "train.weight_decay=0", "model.overrides.tie_word_embeddings=true"};
  const Trained whole = train_or_fail(settings);
  REQUIRE(worst_difference(whole.parameters, whole.initial).difference > 1e-2);
  for (const Spread& spread : {Spread{"ddp", 2, 1, ""}, Spread{"ddp", 2, 2, "", "every", {bucket_views}},
                               Spread{"fsdp2", 2, 2, "true"}, Spread{"fsdp2", 4, 1, "false"}}) {
    const Trained sharded = train_or_fail(joined(settings, spread.overrides()));
    const WorstTensor gradients = worst_difference(sharded.gradients, whole.gradients);
    const WorstTensor parameters = worst_difference(sharded.parameters, whole.parameters);
    report("tied, gradients: " + spread.name(), gradients);
    report("tied, parameters: " + spread.name(), parameters);
    CHECK(gradients.difference <= k_limit);
    CHECK(parameters.difference <= k_limit);
  }
}

TEST_CASE("bfloat16 parameters with float32 reduction follow float32's loss within 2 %") {
  constexpr int steps = 18;
  const Result<Trained> exact = train(planned_file("first/tiny-llama.yaml"), steps);
  REQUIRE_OK(exact);
  const Result<Trained> rounded = train(planned_file("first/tiny-llama-bf16.yaml"), steps);
  REQUIRE_OK(rounded);
  double worst = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    const double difference = std::abs(rounded->losses[step] / exact->losses[step] - 1);
    fmt::print("step {:2}: float32 {:.4f}, bfloat16 {:.4f}, {:.2f} %\n", step, exact->losses[step],
               rounded->losses[step], difference * 100);
    worst = std::max(worst, difference);
  }
  CHECK(worst <= 0.02);
  CHECK(rounded->losses != exact->losses);  // or nothing was computed in bfloat16
}

TEST_CASE("the loss of the first scenario falls visibly") {
  const PlannedScenario planned = planned_file("first/tiny-llama.yaml");
  const int steps = planned.scenario.measure->warmup_steps + planned.scenario.measure->steps;
  const Result<Trained> trained = train(planned, steps);
  REQUIRE_OK(trained);
  fmt::print("tiny-llama: loss {:.3f} at the first step, {:.3f} at step {}\n", trained->losses.front(),
             trained->losses.back(), steps);
  CHECK(trained->losses.front() ==
        Approx(std::log(256.0)).epsilon(0.05));  // uniform over the vocabulary at the start
  CHECK(trained->losses.back() < 0.8 * trained->losses.front());
}

}  // namespace shardlab::test
