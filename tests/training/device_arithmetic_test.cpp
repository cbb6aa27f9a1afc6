// The arithmetic of devices (libtorch's operators alone, numbers read after the step), run on a processor: it
// trains what the host's trains.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/execute/torch/host/host_backend.h"
#include "tests/catch.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

constexpr int k_steps = 3;

std::shared_ptr<ExecutionBackend> device_arithmetic() {
  return make_host_backend(Arithmetic::device);
}

Trained train_or_fail(const PlannedScenario& planned, const MakeBackend& backend) {
  Result<Trained> trained = train(planned, k_steps, backend);
  REQUIRE_OK(trained);
  return *std::move(trained);
}

// Operators of the two round differently: what one element may differ by, of the largest of its tensor.
void compare_arithmetic(const std::vector<std::string>& overrides, double limit) {
  const PlannedScenario planned =
      planned_text(k_small_model, joined({"train.optimizer=sgd", "train.learning_rate=0.1"}, overrides));
  const Trained host = train_or_fail(planned, {});
  const Trained device = train_or_fail(planned, device_arithmetic);
  CHECK(bitwise_equal(host.initial, device.initial));
  const WorstTensor gradients = worst_difference(device.gradients, host.gradients);
  INFO(gradients.name);
  CHECK(gradients.difference <= limit);
  const WorstTensor parameters = worst_difference(device.parameters, host.parameters);
  CHECK(parameters.difference <= limit);
  REQUIRE(worst_difference(host.parameters, host.initial).difference > 1e-3);
  REQUIRE(host.losses.size() == device.losses.size());
  for (std::size_t i = 0; i < host.losses.size(); ++i)
    CHECK(device.losses[i] == Approx(host.losses[i]).epsilon(limit));
  REQUIRE(host.gradient_norms.size() == device.gradient_norms.size());
  for (std::size_t i = 0; i < host.gradient_norms.size(); ++i)
    CHECK(device.gradient_norms[i] == Approx(host.gradient_norms[i]).epsilon(limit));
  fmt::print("{:.2e} {:.2e}  {}\n", gradients.difference, parameters.difference, fmt::join(overrides, " "));
}

}  // namespace

TEST_CASE("the arithmetic of devices trains what the host's trains, whatever the strategy") {
  for (const Spread& spread : all_spreads()) {
    INFO(spread.name());
    compare_arithmetic(joined({"train.clip_norm=1.0"}, spread.overrides()), 2e-6);
  }
}

TEST_CASE("the arithmetic of devices knows every way to precision, accumulation and checkpointing") {
  const std::vector<std::string> fsdp2{"parallel.strategy=fsdp2", "cluster.ranks=2", "train.micro_batch=4"};
  const std::vector<std::string> fsdp1{"parallel.strategy=fsdp1", "cluster.ranks=2", "train.micro_batch=4"};
  const std::vector<std::string> native{"parallel.strategy=native", "cluster.ranks=2", "train.micro_batch=4"};
  for (const auto& strategy : {fsdp2, fsdp1, native}) {
    compare_arithmetic(joined(strategy, {"train.micro_batch=2", "train.accumulation=2"}), 2e-6);
    compare_arithmetic(joined(strategy, {"activation.checkpoint=full"}), 2e-6);
    compare_arithmetic(
        joined(strategy, {"precision.param=bfloat16", "precision.reduce=float32", "train.clip_norm=1.0"}),
        2e-2);
  }
}

TEST_CASE("the arithmetic of devices skips a step whose gradients overflow") {
  const std::vector<std::string> settings{"parallel.strategy=fsdp2",
                                          "cluster.ranks=2",
                                          "train.micro_batch=4",
                                          "precision.param=float16",
                                          "scaler={initial_scale: 67108864, interval: 3}",
                                          "train.clip_norm=1.0"};
  const PlannedScenario planned = planned_text(k_small_model, settings);
  const Status done = run_ranks(
      planned,
      [](RankExecutor& executor, int rank) -> Status {
        int skipped = 0;
        for (int i = 0; i < 4; ++i) {
          SHARDLAB_TRY(const RankTrace trace, executor.step());
          for (const Span& span : trace.spans) skipped += span.skipped ? 1 : 0;
          if (!trace.gradient_norm) return internal_error("step", "no gradient norm");
        }
        if (skipped == 0) return internal_error("step", "nothing was skipped");
        if (rank == 0)
          fmt::print("{} instructions skipped, the scale is now {}\n", skipped, *executor.loss_scale());
        return *executor.loss_scale() < 67108864 ? Status{} : internal_error("scale", "not lowered");
      },
      {}, {}, device_arithmetic);
  REQUIRE_OK(done);
}

TEST_CASE("spans keep the plan's order") {
  const PlannedScenario planned = planned_text(
      k_small_model, joined({}, {"parallel.strategy=fsdp2", "cluster.ranks=2", "train.micro_batch=4"}));
  const Status done = run_ranks(
      planned,
      [&](RankExecutor& executor, int) -> Status {
        SHARDLAB_CHECK_OK(executor.step());
        SHARDLAB_TRY(const RankTrace trace, executor.step());
        const std::vector<Instruction>& instructions = planned.plan.steady.instructions;
        for (std::size_t i = 0; i < instructions.size(); ++i) {
          const Span& span = trace.spans[i];
          if (span.end < span.start || span.start < span.issue)
            return internal_error("span", fmt::format("{} runs backwards", i));
          for (const InstructionId wait : instructions[i].waits) {
            if (!is_host_only(instructions[i].kind) && span.start < trace.spans[wait.index()].end)
              return internal_error("span", fmt::format("{} starts before {} ends", i, wait.value));
          }
        }
        return {};
      },
      {}, {}, device_arithmetic);
  REQUIRE_OK(done);
}

}  // namespace shardlab::test
