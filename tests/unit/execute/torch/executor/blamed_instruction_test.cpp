// Which instruction is blamed for what ends a step on a device that runs behind its host.
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <algorithm>

#include "engine/execute/streams/device_failure.h"
#include "engine/execute/streams/host_queues.h"
#include "engine/execute/torch/operators/aten/device_operators.h"
#include "engine/execute/torch/rank_executor.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/training/small_model.h"

namespace shardlab {
namespace {

using test::contains_text;

// A device that has come to one early instruction and works on it: all that were issued after it are pending.
class LateDevice : public HostQueues {
 public:
  LateDevice() : HostQueues(Queueing::by_stream) {}
  EventHandle record(QueueIndex queue) override {
    EventHandle event = HostQueues::record(queue);
    order_.push_back(event);
    return event;
  }
  // What the device is stuck in.
  bool failed_between(const EventHandle& start, const EventHandle& end) override {
    return position(start) <= k_passed && (!end || position(end) > k_passed);
  }
  void drain() override {
    if (fails_at_the_end) throw DeviceFailure("rank 1 has not been heard of for 15.0 s");
    HostQueues::drain();
    order_.clear();
  }

  bool fails_at_the_end = false;

 private:
  static constexpr std::ptrdiff_t k_passed = 3;
  std::ptrdiff_t position(const EventHandle& event) const {
    return std::find(order_.begin(), order_.end(), event) - order_.begin();
  }
  std::vector<EventHandle> order_;
};

class LateBackend : public ExecutionBackend {
 public:
  c10::Device device() const override { return c10::kCPU; }
  Arithmetic arithmetic() const override { return Arithmetic::device; }
  LateDevice& streams() override { return streams_; }
  const OperatorImplementation* find_operator(std::string_view name) const override {
    return find_device_implementation(name);
  }
  void keep_for(const at::Tensor&, QueueIndex) override {}
  at::Tensor host_memory(std::int64_t elements, c10::ScalarType dtype) const override {
    const MemoryLedger uncounted;
    const LedgerScope scope(uncounted);
    return at::empty({elements}, at::TensorOptions(dtype));
  }

 private:
  LateDevice streams_;
};

PlannedScenario planned_small() {
  const auto scenario =
      parse_scenario(test::k_small_model, (test::source_folder() / "scenario.yaml").string());
  REQUIRE_OK(scenario);
  auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  return *std::move(planned);
}

// The last Backward of the first step: the device is far behind when it is issued.
InstructionId late_instruction(const StepPlan& plan) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    if (plan.instructions[i].kind == InstructionKind::Backward) last = i;
  }
  return make_id<InstructionId>(last);
}

// The one that LateDevice works on.
InstructionId early_instruction(const StepPlan& plan) {
  int timed = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    if (!is_host_only(plan.instructions[i].kind) && ++timed == 2) return make_id<InstructionId>(i);
  }
  return {};
}

struct Ended {
  Error error;
  std::optional<OutOfMemory> out_of_memory;
};

// `fail` is called when the late instruction is issued.
template <typename Fail>
Ended end_first_step(const PlannedScenario& planned, Fail fail) {
  const auto backend = std::make_shared<LateBackend>();
  RankExecutorOptions options;
  options.backend = backend;
  options.observer = [&](RankExecutor&, const StepPlan& plan, InstructionId id) {
    if (&plan == &planned.plan.step(0) && id == late_instruction(plan)) fail(backend->streams());
  };
  const auto executor = RankExecutor::create(planned, std::move(options));
  REQUIRE_OK(executor);
  REQUIRE_OK((*executor)->setup());
  const auto step = (*executor)->step();
  REQUIRE_FALSE(step);
  return {step.error(), (*executor)->out_of_memory()};
}

}  // namespace

TEST_CASE("what the host's own calls throw is blamed on the instruction that is being issued") {
  const PlannedScenario planned = planned_small();
  const StepPlan& first = planned.plan.step(0);
  const std::string label = instruction_label(first, late_instruction(first));
  const Ended memory = end_first_step(planned, [](LateDevice&) {
    throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "CUDA out of memory");
  });
  CHECK_THAT(to_string(memory.error), contains_text("step 0, " + label));
  REQUIRE(memory.out_of_memory);
  CHECK(memory.out_of_memory->instruction == late_instruction(first));
  const Ended other =
      end_first_step(planned, [](LateDevice&) { throw std::runtime_error("no kernel image"); });
  CHECK_THAT(to_string(other.error), contains_text("step 0, " + label));
  CHECK_FALSE(other.out_of_memory);
}

TEST_CASE("what a wait for the device throws is blamed on what the device is stuck in") {
  const PlannedScenario planned = planned_small();
  const StepPlan& first = planned.plan.step(0);
  const Ended ended = end_first_step(planned, [](LateDevice& device) { device.fails_at_the_end = true; });
  CHECK_THAT(to_string(ended.error),
             contains_text("step 0, " + instruction_label(first, early_instruction(first))));
  CHECK_THAT(to_string(ended.error), contains_text("rank 1 has not been heard of"));
}

}  // namespace shardlab
