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
  // Most of its waits are needed; DeepSpeed's host waits for gathers that a stream waits for as well.
  bool waits_sparingly = true;
  // Host memory beside a GPU is predicted only: no device with queues runs the plan.
  bool on_host_alone = false;

  std::vector<Queueing> queueings() const {
    if (on_host_alone) return {Queueing::on_host};
    return {Queueing::by_stream, Queueing::on_host};
  }
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
      {"zero0, bfloat16", {"parallel.strategy=zero0", "precision.param=bfloat16"}},
      {"zero1", {"parallel.strategy=zero1", "train.accumulation=2"}},
      {"zero2, overlapped",
       {"parallel.strategy=zero2", "parallel.zero={overlap_comm: true, reduce_bucket_size: 20000}",
        "train.accumulation=2"}},
      {"zero3", {"parallel.strategy=zero3", "precision.param=bfloat16"}},
      {"zero3, released",
       {"parallel.strategy=zero3",
        "parallel.zero={stage3_param_persistence_threshold: 100, stage3_max_reuse_distance: 0, "
        "stage3_prefetch_bucket_size: 12000, reduce_bucket_size: 20000}",
        "train.accumulation=2"},
       false},
      {"zero1, float32 sums",
       {"parallel.strategy=zero1", "precision.param=bfloat16", "parallel.zero={grad_accum_dtype: fp32}",
        "train.accumulation=2"}},
      {"zero2, owner by owner",
       {"parallel.strategy=zero2",
        "parallel.zero={overlap_comm: true, reduce_bucket_size: 20000, use_multi_rank_bucket_allreduce: "
        "false}",
        "train.accumulation=2"}},
      {"zero3, among neighbours",
       {"parallel.strategy=zero3", "cluster.ranks=4",
        "parallel.zero={zero_hpz_partition_size: 2, stage3_param_persistence_threshold: 100, "
        "stage3_max_reuse_distance: 0, stage3_prefetch_bucket_size: 12000, reduce_bucket_size: 20000}",
        "train.accumulation=2"},
       false},
      {"zero2, optimizer on the host",
       {"parallel.strategy=zero2", "parallel.zero={overlap_comm: true, reduce_bucket_size: 20000}",
        "train.accumulation=2", "offload.optimizer=cpu"},
       true,
       true},
      {"zero3, all on the host",
       {"parallel.strategy=zero3",
        "parallel.zero={stage3_param_persistence_threshold: 100, stage3_max_reuse_distance: 0, "
        "stage3_prefetch_bucket_size: 12000, reduce_bucket_size: 20000}",
        "train.accumulation=2", "offload={optimizer: cpu, parameters: cpu}"},
       false,
       true},
      {"zero3, on a drive",
       {"parallel.strategy=zero3", "precision.param=bfloat16", "model.overrides.vocab_size=8200",
        "parallel.zero={reduce_bucket_size: 600000, sub_group_size: 200000}", "train.accumulation=2",
        "cluster.nvme.path=/drive", "offload.optimizer=nvme"},
       true,
       true},
      {"zero3, on a drive, read ahead and written behind",
       {"parallel.strategy=zero3", "model.overrides.vocab_size=8200",
        "parallel.zero={reduce_bucket_size: 600000, sub_group_size: 200000}", "cluster.nvme.path=/drive",
        "offload={optimizer: nvme, parameters: cpu, buffers: 8, pipeline_read: true, pipeline_write: true}"},
       true,
       true},
      {"fsdp2, on the host", {"parallel.strategy=fsdp2", "offload.parameters=cpu"}, true, true},
      {"fsdp1, on the host", {"parallel.strategy=fsdp1", "offload.parameters=cpu"}, true, true},
      {"native", {"parallel.strategy=native"}},
      {"native, bfloat16",
       {"parallel.strategy=native", "precision.param=bfloat16", "precision.reduce=float32"}},
      {"native, one rank",
       {"parallel.strategy=native", "cluster.ranks=1", "precision.param=bfloat16",
        "precision.reduce=float32"}},
      {"native, optimizer in backward",
       {"parallel.strategy=native", "train.clip_norm=null", "train.optimizer_in_backward=true"}},
      {"native, one rank, optimizer in backward",
       {"parallel.strategy=native", "cluster.ranks=1", "precision.param=bfloat16", "precision.reduce=float32",
        "train.clip_norm=null", "train.optimizer_in_backward=true"}},
  };
}

// Setup, the first steps, and the steady one twice.
struct Steps {
  explicit Steps(const RunPlan& plan, Queueing device = Queueing::by_stream) : queueing(device) {
    for (const StepPlan* step : plan.all()) schedules.push_back(schedule_streams(*step, queueing));
    for (const StreamSchedule& schedule : schedules) order.push_back(&schedule);
    order.push_back(&schedules.back());
  }
  std::string first_defect() const { return test::first_defect(order, queueing); }

  const Queueing queueing;
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
      const std::string defect = steps.first_defect();
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

TEST_CASE("on a device with queues, and on a host, nothing is released before its last reader is through") {
  for (const Case& c : cases()) {
    INFO(c.name);
    const PlannedScenario planned = plan_small_llama(c.overrides);
    for (const Queueing queueing : c.queueings()) CHECK(Steps(planned.plan, queueing).first_defect() == "");
  }
}

TEST_CASE("a wait taken out shows on a device with queues") {
  for (const Case& c : cases()) {
    INFO(c.name);
    const PlannedScenario planned = plan_small_llama(c.overrides);
    for (const Queueing queueing : c.queueings()) {
      Steps steps(planned.plan, queueing);
      const Removals removals = remove_each_wait(steps);
      std::cout << fmt::format("{:22} {} {:3} waits, {:3} needed for order or memory; {}\n", c.name,
                               queueing == Queueing::on_host ? "host  " : "queues", removals.waits,
                               removals.found,
                               removals.example.empty() ? "-" : "for instance: " + removals.example);
      if (removals.waits == 0) {  // one rank, or one stream for everything
        CHECK((planned.plan.steady.streams.size() == 1 || planned.plan.steady.world_size == 1));
        continue;
      }
      if (queueing == Queueing::by_stream && c.waits_sparingly) CHECK(removals.found > removals.waits / 2);
      CHECK(removals.found > 0);
    }
  }
}

TEST_CASE("a recorded free needs its record") {
  const PlannedScenario planned = plan_small_llama({"parallel.strategy=fsdp1"});
  Steps steps(planned.plan);
  REQUIRE(steps.first_defect() == "");
  int recorded = 0;
  int needed = 0;
  for (ScheduledInstruction& instruction : steps.schedules.back().instructions) {
    for (FreedBuffer& freed : instruction.frees) {
      if (freed.users.empty()) continue;
      const std::vector<ScheduleQueue> users = std::exchange(freed.users, {});
      ++recorded;
      if (!steps.first_defect().empty()) ++needed;
      freed.users = users;
    }
  }
  std::cout << fmt::format("fsdp1: {} recorded frees, {} of them needed\n", recorded, needed);
  CHECK(needed > 0);
}

}  // namespace shardlab::test
