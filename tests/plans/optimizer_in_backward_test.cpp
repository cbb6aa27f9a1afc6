// An optimizer within backward: every module is updated once, as soon as its gradients are there, which are
// dropped then; and states in eight bits.
#include <algorithm>
#include <map>
#include <optional>

#include "tests/catch.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

const std::vector<std::string> k_alone{"cluster.ranks=1", "parallel.strategy=none", "train.clip_norm=null"};

PlannedScenario planned_with(const std::vector<std::string>& settings) {
  std::vector<std::string> all = k_alone;
  all.insert(all.end(), settings.begin(), settings.end());
  return plan_small_llama(all);
}

// The most bytes of gradients of parameters that are alive after any instruction.
Bytes most_gradients(const StepPlan& plan) {
  Bytes live, most;
  const auto bytes_of_gradients = [&](const std::vector<BufferId>& buffers) {
    Bytes sum;
    for (const BufferId id : buffers) {
      if (plan.buffer(id).buffer_class == BufferClass::gradient) sum += plan.buffer(id).bytes();
    }
    return sum;
  };
  for (const Instruction& instruction : plan.instructions) {
    live += bytes_of_gradients(instruction.allocates);
    most = std::max(most, live);
    live -= bytes_of_gradients(instruction.frees);
  }
  CHECK(live == Bytes{});
  return most;
}

Bytes largest_parameters(const StepPlan& plan) {
  Bytes largest;
  for (const Buffer& buffer : plan.buffers)
    if (buffer.buffer_class == BufferClass::parameter) largest = std::max(largest, buffer.bytes());
  return largest;
}

Bytes states_of(const StepPlan& plan) {
  Bytes sum;
  for (const Buffer& buffer : plan.buffers)
    if (buffer.buffer_class == BufferClass::optimizer_state) sum += buffer.bytes();
  return sum;
}

}  // namespace

TEST_CASE("optimizer in backward: each module is updated once, and no two modules' gradients are alive") {
  for (const char* checkpoint : {"none", "full"}) {
    const PlannedScenario planned = planned_with(
        {"train.optimizer_in_backward=true", std::string("activation.checkpoint=") + checkpoint});
    for (const StepPlan* plan : {&planned.plan.first, &planned.plan.steady}) {
      std::map<BufferId, int> updates;
      for (const Instruction& instruction : plan->instructions) {
        if (instruction.kind != InstructionKind::OptimizerStep) continue;
        for (const BufferId id : instruction.writes)
          if (plan->buffer(id).buffer_class == BufferClass::parameter) ++updates[id];
      }
      const auto parameters = std::count_if(plan->buffers.begin(), plan->buffers.end(), [](const Buffer& b) {
        return b.buffer_class == BufferClass::parameter && b.elements > 0;
      });
      CHECK(updates.size() == static_cast<std::size_t>(parameters));
      for (const auto& [buffer, count] : updates) CHECK(count == 1);
      CHECK(most_gradients(*plan) <= largest_parameters(*plan));
    }
  }
}

// A unit's gradient is reduced, used and dropped before the second one after it is reduced.
TEST_CASE("optimizer in backward: native updates each unit once, behind its reduction") {
  for (const char* precision : {"{}", "{param: bfloat16, reduce: float32}"}) {
    for (const std::string& ranks : {std::string("1"), std::string("2")}) {
      INFO(ranks << " ranks, precision " << precision);
      const PlannedScenario planned =
          planned_with({"parallel.strategy=native", "cluster.ranks=" + ranks,
                        "train.optimizer_in_backward=true", std::string("precision=") + precision});
      for (const StepPlan* plan : {&planned.plan.first, &planned.plan.steady}) {
        std::map<BufferId, int> updates;
        std::optional<std::size_t> last_backward;
        std::size_t within = 0, live = 0;
        for (const Instruction& instruction : plan->instructions) {
          const auto kept = [&](const std::vector<BufferId>& buffers) {
            return std::count_if(buffers.begin(), buffers.end(), [&](BufferId id) {
              const BufferClass kind = plan->buffer(id).buffer_class;
              return kind == BufferClass::gradient_shard;
            });
          };
          live += static_cast<std::size_t>(kept(instruction.allocates));
          CHECK(live <= 2);
          live -= static_cast<std::size_t>(kept(instruction.frees));
          if (instruction.kind == InstructionKind::Backward) last_backward = updates.size();
          if (instruction.kind != InstructionKind::OptimizerStep) continue;
          CHECK(plan->streams[instruction.stream.index()].name == "reduce");
          for (const BufferId id : instruction.writes)
            if (plan->buffer(id).buffer_class == BufferClass::parameter_shard) ++updates[id];
        }
        CHECK(live == 0);
        within = last_backward.value_or(0);
        CHECK(updates.size() == planned.partition.units.size());
        CHECK(within == planned.partition.units.size() - 1);  // all but the root's
        for (const auto& [buffer, count] : updates) CHECK(count == 1);
      }
    }
  }
}

// One rank has nothing to scatter: what backward leaves is what the optimizer reads.
TEST_CASE("native copies no gradients of a unit that nobody shares") {
  for (const char* precision : {"{}", "{param: bfloat16, reduce: float32}"}) {
    const PlannedScenario planned =
        planned_with({"parallel.strategy=native", std::string("precision=") + precision});
    for (const Instruction& instruction : planned.plan.steady.instructions)
      CHECK(instruction.kind != InstructionKind::ReduceScatter);
  }
}

TEST_CASE("states in eight bits take a quarter of float32's, and a scale a block") {
  const StepPlan plain = planned_with({}).plan.steady;
  const StepPlan small = planned_with({"train.optimizer=adamw_8bit"}).plan.steady;
  const Bytes quarter = states_of(plain) / 4;
  CHECK(states_of(small) >= quarter + quarter / 64);
  CHECK(states_of(small) < quarter + quarter / 32);
}

// bitsandbytes pages the states of tensors of 100,000 elements or more; the scales of eight bits stay.
TEST_CASE("paged states leave the device's memory and go to what the driver moves") {
  const auto bytes_in = [](const StepPlan& plan, MemorySpace space) { return carried_bytes(plan, space); };
  const std::string large = "model.config=llama-3.2-1b";
  const StepPlan plain = planned_with({large}).plan.steady;
  const StepPlan paged = planned_with({large, "train.optimizer_paged=true"}).plan.steady;
  CHECK(bytes_in(plain, MemorySpace::managed) == Bytes{});
  CHECK(bytes_in(paged, MemorySpace::managed) + bytes_in(paged, MemorySpace::device) ==
        bytes_in(plain, MemorySpace::device));
  CHECK(bytes_in(paged, MemorySpace::managed) > states_of(plain) / 100 * 99);
  const StepPlan small =
      planned_with({large, "train.optimizer_paged=true", "train.optimizer=adamw_8bit"}).plan.steady;
  CHECK(bytes_in(small, MemorySpace::managed) == states_of(plain) / 4);
  // A tiny model has no tensor that is large enough.
  CHECK(bytes_in(planned_with({"train.optimizer_paged=true"}).plan.steady, MemorySpace::managed) == Bytes{});
}

}  // namespace shardlab::test
