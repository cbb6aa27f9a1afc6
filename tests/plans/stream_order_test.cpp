// Plans of every strategy on a device with queues: from what the device was asked to do alone, no memory is
// released or handed on before its last reader is through; and that is because of the waits: most of them,
// taken out alone, break it.
#include <iostream>
#include <utility>

#include <fmt/format.h>

#include "engine/plan/check.h"
#include "tests/catch.h"
#include "tests/plans/plan_cases.h"
#include "tests/plans/recording_device.h"

namespace shardlab::test {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> overrides;
};

std::vector<Case> cases() {
  return {
      {"none", {"parallel.strategy=none", "cluster.ranks=1"}},
      {"ddp", {"parallel.strategy=ddp"}},
      {"ddp, accumulating", {"parallel.strategy=ddp", "train.accumulation=3"}},
      {"fsdp1", {"parallel.strategy=fsdp1"}},
      {"fsdp1, shard_grad_op", {"parallel.strategy=fsdp1", "parallel.sharding=shard_grad_op"}},
      {"fsdp1, bfloat16",
       {"parallel.strategy=fsdp1", "precision.param=bfloat16", "precision.reduce=float32"}},
      {"fsdp1, no limit", {"parallel.strategy=fsdp1", "parallel.prefetch.limit_all_gathers=false"}},
      {"fsdp2", {"parallel.strategy=fsdp2"}},
      {"fsdp2, not resharded", {"parallel.strategy=fsdp2", "parallel.reshard_after_forward=false"}},
      {"fsdp2, bfloat16",
       {"parallel.strategy=fsdp2", "precision.param=bfloat16", "precision.reduce=float32"}},
      {"fsdp2, accumulating", {"parallel.strategy=fsdp2", "train.accumulation=2"}},
      {"fsdp2, checkpointed", {"parallel.strategy=fsdp2", "activation.checkpoint=full"}},
      {"native", {"parallel.strategy=native"}},
      {"native, bfloat16",
       {"parallel.strategy=native", "precision.param=bfloat16", "precision.reduce=float32"}},
  };
}

// Setup, the first steps, and the steady one twice.
struct Steps {
  explicit Steps(const RunPlan& plan) {
    for (const StepPlan* step : plan.all()) schedules.push_back(schedule_streams(*step));
    for (const StreamSchedule& schedule : schedules) order.push_back(&schedule);
    order.push_back(&schedules.back());
  }
  std::vector<StreamSchedule> schedules;
  std::vector<const StreamSchedule*> order;
};

struct Removals {
  int waits = 0;
  int found = 0;
  std::string example;
};

// Takes out one wait of the steady step after the other.
Removals remove_each_wait(Steps& steps) {
  Removals result;
  for (ScheduledInstruction& instruction : steps.schedules.back().instructions) {
    for (std::size_t i = 0; i < instruction.waits.size(); ++i) {
      const std::vector<InstructionId> all = instruction.waits;
      instruction.waits.erase(instruction.waits.begin() + static_cast<std::ptrdiff_t>(i));
      const std::string defect = first_defect(steps.order);
      instruction.waits = all;
      ++result.waits;
      if (defect.empty()) continue;
      ++result.found;
      if (result.example.empty()) result.example = defect;
    }
  }
  return result;
}

}  // namespace

TEST_CASE("on a device with queues nothing is released before its last reader is through") {
  for (const Case& c : cases()) {
    INFO(c.name);
    const PlannedScenario planned = plan_small_llama(c.overrides);
    CHECK(first_defect(Steps(planned.plan).order) == "");
  }
}

TEST_CASE("a wait taken out shows on a device with queues") {
  for (const Case& c : cases()) {
    INFO(c.name);
    const PlannedScenario planned = plan_small_llama(c.overrides);
    Steps steps(planned.plan);
    const Removals removals = remove_each_wait(steps);
    std::cout << fmt::format("{:22} {:3} waits, {:3} needed for order or memory; {}\n", c.name,
                             removals.waits, removals.found,
                             removals.example.empty() ? "-" : "for instance: " + removals.example);
    if (planned.plan.steady.world_size > 1) CHECK(removals.found > removals.waits / 2);
  }
}

TEST_CASE("a recorded free needs its record") {
  const PlannedScenario planned = plan_small_llama({"parallel.strategy=fsdp1"});
  Steps steps(planned.plan);
  REQUIRE(first_defect(steps.order) == "");
  int recorded = 0;
  int needed = 0;
  for (ScheduledInstruction& instruction : steps.schedules.back().instructions) {
    for (FreedBuffer& freed : instruction.frees) {
      if (freed.users.empty()) continue;
      const std::vector<StreamId> users = std::exchange(freed.users, {});
      ++recorded;
      if (!first_defect(steps.order).empty()) ++needed;
      freed.users = users;
    }
  }
  std::cout << fmt::format("fsdp1: {} recorded frees, {} of them needed\n", recorded, needed);
  CHECK(needed > 0);
}

}  // namespace shardlab::test
