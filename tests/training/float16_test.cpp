// Loss scaling and 16-bit training: what overflows is skipped by all ranks together, and what does not trains
// as float32 does.
#include <fmt/format.h>

#include <cmath>
#include <mutex>

#include "tests/catch.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

struct ScaledStep {
  double loss = 0, scale_after = 0;
  bool skipped = false;
  bool found_here = false;  // in this rank's own gradients, before the ranks agreed
  NamedTensors parameters;  // after the step, of rank 0
};

bool is_skipped(const StepPlan& plan, const RankTrace& trace, InstructionKind kind) {
  bool any = false, all = true;
  for (const Span& span : trace.spans) {
    if (plan.instruction(span.instruction).kind != kind) continue;
    any = any || span.skipped;
    all = all && span.skipped;
  }
  REQUIRE(any == all);
  return any;
}

// By rank and step.
std::vector<std::vector<ScaledStep>> train_scaled(const PlannedScenario& planned, int steps) {
  std::vector<std::vector<ScaledStep>> ranks(static_cast<std::size_t>(planned.plan.steady.world_size));
  std::vector<bool> found(ranks.size());
  std::vector<std::vector<RankTrace>> traces(ranks.size());
  std::mutex mutex;
  const StepObserver observer = [&](RankExecutor& executor, const StepPlan& plan, InstructionId id) {
    if (id.value == 0 || plan.instructions[id.index() - 1].kind != InstructionKind::Unscale) return;
    const std::lock_guard lock(mutex);
    found[static_cast<std::size_t>(executor.rank())] =
        executor.buffer(BufferRole::found_inf).item<float>() != 0;
  };
  REQUIRE_OK(run_ranks(
      planned,
      [&](RankExecutor& executor, int rank) -> Status {
        const auto at = static_cast<std::size_t>(rank);
        for (int i = 0; i < steps; ++i) {
          SHARDLAB_TRY(RankTrace trace, executor.step());
          ScaledStep step{*trace.loss, *executor.loss_scale(), false, false, {}};
          for (const Parameter& parameter : planned.graph.parameters) {
            SHARDLAB_TRY(step.parameters[parameter.name], executor.full_parameter(parameter.name));
          }
          const std::lock_guard lock(mutex);
          step.found_here = found[at];
          ranks[at].push_back(std::move(step));
          traces[at].push_back(std::move(trace));
        }
        return {};
      },
      observer));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (std::size_t i = 0; i < ranks[rank].size(); ++i) {
      const StepPlan& plan = i == 0 ? planned.plan.first : planned.plan.steady;
      ranks[rank][i].skipped = is_skipped(plan, traces[rank][i], InstructionKind::OptimizerStep);
      CHECK(is_skipped(plan, traces[rank][i], InstructionKind::ClipGradients) == ranks[rank][i].skipped);
      CHECK(std::isfinite(*traces[rank][i].gradient_norm) == !ranks[rank][i].skipped);
    }
  }
  return ranks;
}

Trained train_or_fail(const std::vector<std::string>& overrides, int steps) {
  Result<Trained> trained = train(planned_text(k_small_model, overrides), steps);
  REQUIRE_OK(trained);
  return *std::move(trained);
}

double worst_loss(const Trained& trained, const Trained& exact) {
  double worst = 0;
  for (std::size_t i = 0; i < exact.losses.size(); ++i) {
    const double difference = std::abs(trained.losses.at(i) / exact.losses[i] - 1);
    worst = std::max(worst, std::isnan(difference) ? 1e9 : difference);
  }
  return worst;
}

}  // namespace

TEST_CASE("a loss scaled by a power of two changes no bit of a float32 training") {
  for (const Spread& spread :
       {Spread{"none", 1, 1, ""}, Spread{"ddp", 2, 2, ""}, Spread{"fsdp1", 2, 2, "full_shard"},
        Spread{"fsdp1", 4, 1, "hybrid_shard"}, Spread{"fsdp2", 2, 2, "true"}}) {
    INFO(spread.name());
    const std::vector<std::string> settings = joined({"train.clip_norm=1.0"}, spread.overrides());
    const Trained plain = train_or_fail(settings, 3);
    const Trained scaled =
        train_or_fail(joined(settings, {"scaler={enabled: true, initial_scale: 4096, interval: 2}"}), 3);
    CHECK(scaled.losses == plain.losses);
    CHECK(scaled.gradient_norms == plain.gradient_norms);
    CHECK(bitwise_equal(scaled.gradients, plain.gradients));
    CHECK(bitwise_equal(scaled.parameters, plain.parameters));
    CHECK(worst_difference(plain.parameters, plain.initial).difference > 1e-4);
  }
}

TEST_CASE("an overflow is skipped by all ranks together, and training goes on") {
  for (const Spread& spread :
       {Spread{"fsdp2", 2, 1, "true"}, Spread{"fsdp2", 4, 2, "false"}, Spread{"fsdp1", 4, 1, "full_shard"}}) {
    INFO(spread.name());
    constexpr int steps = 14;
    const PlannedScenario planned = planned_text(
        k_small_model, joined({"precision.param=float16", "scaler={initial_scale: 67108864, interval: 3}",
                               "train.clip_norm=1.0"},
                              spread.overrides()));
    const auto ranks = train_scaled(planned, steps);
    NamedTensors before;
    double scale = 67108864;
    int skipped = 0, alone = 0, good = 0;
    for (std::size_t i = 0; i < steps; ++i) {
      const ScaledStep& first = ranks[0][i];
      int found = 0;
      for (const auto& rank : ranks) {
        CHECK(rank[i].skipped == first.skipped);
        CHECK(rank[i].scale_after == first.scale_after);
        found += rank[i].found_here ? 1 : 0;
      }
      CHECK((found > 0) == first.skipped);
      if (first.skipped) {
        ++skipped;
        alone += found < spread.ranks ? 1 : 0;
        good = 0;
        scale /= 2;
        if (!before.empty()) CHECK(bitwise_equal(first.parameters, before));
      } else if (++good == 3) {
        good = 0;
        scale *= 2;
      }
      if (!first.skipped && !before.empty()) CHECK_FALSE(bitwise_equal(first.parameters, before));
      CHECK(first.scale_after == scale);
      before = first.parameters;
    }
    fmt::print(
        "{:<40} {} of {} steps skipped, {} found by some ranks alone; loss {:.4f} to {:.4f}, scale {:.0f} at "
        "the end\n",
        spread.name(), skipped, steps, alone, ranks[0].front().loss, ranks[0].back().loss, scale);
    CHECK(skipped > 2);
    CHECK(alone > 0);  // or agreement would not have been needed
    CHECK(skipped < steps - 3);
    CHECK(std::isfinite(ranks[0].back().loss));
    CHECK(ranks[0].back().loss < ranks[0].front().loss);
  }
}

TEST_CASE("float16 parameters follow float32's loss") {
  const Trained exact = train_or_fail({}, 10);
  REQUIRE(exact.losses.back() < 0.97 * exact.losses.front());
  for (const Spread& spread : {Spread{"fsdp2", 2, 2, "true"}, Spread{"fsdp1", 2, 2, "full_shard"}}) {
    for (const char* reduce : {"float16", "float32"}) {
      const Trained rounded =
          train_or_fail(joined({"precision.param=float16", std::string("precision.reduce=") + reduce,
                                "scaler.initial_scale=1024"},
                               spread.overrides()),
                        10);
      const double worst = worst_loss(rounded, exact);
      fmt::print("float16, reduced in {}, {}: losses differ from float32's by at most {:.1e}\n", reduce,
                 spread.name(), worst);
      CHECK(worst <= 2e-3);
      CHECK(rounded.losses != exact.losses);  // or nothing was computed in float16
    }
  }
}

TEST_CASE("16-bit parameters without a float32 master train under every strategy") {
  const std::vector<std::string> settings{"train.optimizer=sgd", "train.learning_rate=0.1",
                                          "train.weight_decay=0"};
  const Trained exact = train_or_fail(settings, 8);
  REQUIRE(exact.losses.back() < 0.97 * exact.losses.front());
  for (const char* dtype : {"bfloat16", "float16"}) {
    for (const Spread& spread :
         {Spread{"none", 1, 1, ""}, Spread{"ddp", 2, 1, ""}, Spread{"fsdp1", 2, 1, "full_shard"},
          Spread{"fsdp2", 2, 2, "true"}, Spread{"fsdp2", 4, 1, "false"}}) {
      const std::vector<std::string> stored =
          joined({std::string("model.dtype=") + dtype, "scaler.enabled=false"}, spread.overrides());
      const Trained rounded = train_or_fail(joined(settings, stored), 8);
      const double worst = worst_loss(rounded, exact);
      fmt::print("stored in {:<8} {:<60} losses differ from float32's by at most {:.1e}\n", dtype,
                 spread.name(), worst);
      CHECK(worst <= 1e-2);
      for (const auto& [name, parameter] : rounded.parameters) {
        INFO(name);
        CHECK(parameter.scalar_type() == (std::string(dtype) == "float16" ? at::kHalf : at::kBFloat16));
      }
    }
  }
}

// ShardedGradScaler unscales what GradScaler refuses.
TEST_CASE("fsdp1 trains float16 parameters without a master under a scaled loss") {
  const std::vector<std::string> settings{"train.optimizer=sgd", "train.learning_rate=0.1",
                                          "train.weight_decay=0"};
  const Trained exact = train_or_fail(settings, 8);
  const Spread spread{"fsdp1", 2, 1, "full_shard"};
  const Trained rounded = train_or_fail(
      joined(settings, joined({"model.dtype=float16", "scaler.initial_scale=1024"}, spread.overrides())), 8);
  CHECK(worst_loss(rounded, exact) <= 1e-3);
}

}  // namespace shardlab::test
