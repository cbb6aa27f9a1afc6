// The allocator calls of steps against the plan's own sums and the simulated memory, and how buffers are
// divided into tensors.
#include "simulator/memory/allocations/step_allocations.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "simulator/memory/step_memory.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

// What the calls keep alive, followed call by call; every storage must be taken once and given once.
class Ledger {
 public:
  explicit Ledger(const StepAllocations& made) : made_(made) {
    for (const LastingStorage& storage : made.carried) add(storage.storage, storage.bytes);
  }
  Bytes live() const { return live_; }

  // The calls of an instruction; gives the most that was alive within it.
  Bytes follow(std::size_t instruction) {
    Bytes most = live_;
    for (; next_ < made_.ends[instruction]; ++next_) {
      const AllocationCall& call = made_.calls[next_];
      if (call.kind == CallKind::take)
        add(call.storage, call.bytes);
      else
        remove(call.storage);
      most = std::max(most, live_);
    }
    return most;
  }

  const std::map<StorageIndex, Bytes>& storages() const { return alive_; }

 private:
  void add(StorageIndex storage, Bytes bytes) {
    CHECK(alive_.emplace(storage, bytes).second);
    CHECK(bytes > Bytes{});
    live_ += bytes;
  }
  void remove(StorageIndex storage) {
    const auto found = alive_.find(storage);
    REQUIRE(found != alive_.end());
    live_ -= found->second;
    alive_.erase(found);
  }

  const StepAllocations& made_;
  std::map<StorageIndex, Bytes> alive_;
  Bytes live_;
  std::size_t next_ = 0;
};

void check_step(const PlannedScenario& planned, const StepPlan& plan, WhoseStorages whose) {
  const auto made = step_allocations(planned, plan, whose);
  REQUIRE_OK(made);
  const auto samples = simulate_memory(planned, plan, 0);
  REQUIRE_OK(samples);
  REQUIRE(made->ends.size() == plan.instructions.size());
  Ledger ledger(*made);
  CHECK(ledger.live() == carried_bytes(plan));
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    INFO(to_string(plan.phase) << ", " << instruction_label(plan, make_id<InstructionId>(i)));
    CHECK(ledger.follow(i) == (*samples)[i].peak);
    CHECK(ledger.live() == (*samples)[i].live);
  }
  CHECK(ledger.storages().size() == made->kept.size());
  for (const LastingStorage& kept : made->kept) CHECK(ledger.storages().at(kept.storage) == kept.bytes);
}

TEST_CASE("storages taken and given back are the plan's live bytes, within instructions too") {
  for (const char* sections :
       {"parallel: {strategy: ddp}", "parallel: {strategy: fsdp2}", "parallel: {strategy: native}",
        "parallel: {strategy: fsdp2, reshard_after_forward: false}\nactivation: {checkpoint: full}",
        "parallel: {strategy: fsdp1}\nprecision: {param: bfloat16, reduce: float32}",
        "parallel: {strategy: fsdp1, use_orig_params: false}",
        "parallel: {strategy: fsdp2}\nprecision: {param: bfloat16, reduce: float32}"}) {
    for (const char* train : {"clip_norm: 1.0", "accumulation: 2, optimizer_implementation: foreach",
                              "accumulation: 2, sync: last, optimizer_implementation: loop"}) {
      for (const char* model : {"implementation: eager", "implementation: fused"}) {
        INFO(sections << ", " << train << ", " << model);
        const PlannedScenario planned =
            test::small_scenario(sections, train, "{device: cpu, ranks: 2}", model);
        for (const WhoseStorages whose : {WhoseStorages::framework, WhoseStorages::executor}) {
          for (const StepPlan* plan : planned.plan.all()) check_step(planned, *plan, whose);
        }
      }
    }
  }
}

std::size_t tensors_of(const PlannedScenario& planned, const std::string& name, WhoseStorages whose) {
  for (const Buffer& buffer : planned.plan.steady.buffers) {
    if (buffer.name == name) return storages_of(planned.graph, buffer, whose).size();
  }
  FAIL(name);
  return 0;
}

// A layer of tiny-llama has nine parameters.
TEST_CASE("FSDP2 has a tensor a parameter where torch has, and one a unit for collectives") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  const auto framework = [&](const std::string& name) {
    return tensors_of(planned, name, WhoseStorages::framework);
  };
  CHECK(framework("shard.u0") == 9);
  CHECK(framework("exp_avg.u0") == 9);
  CHECK(framework("full.u0") == 9);
  CHECK(framework("gathered.u0") == 1);
  CHECK(framework("rsin.u0") == 1);
  CHECK(framework("gshard.u0") == 1);
  CHECK(tensors_of(planned, "shard.u0", WhoseStorages::executor) == 1);
}

TEST_CASE("FSDP1's optimizer sees parts of parameters only with use_orig_params") {
  const PlannedScenario original = test::small_scenario("parallel: {strategy: fsdp1}");
  const PlannedScenario flat = test::small_scenario("parallel: {strategy: fsdp1, use_orig_params: false}");
  CHECK(tensors_of(original, "shard.u0", WhoseStorages::framework) == 1);
  CHECK(tensors_of(original, "exp_avg.u0", WhoseStorages::framework) > 1);
  CHECK(tensors_of(flat, "exp_avg.u0", WhoseStorages::framework) == 1);
}

// Calls of the frees that name streams beside the buffer's own, by buffer class of what they free.
std::map<BufferClass, std::size_t> recorded_frees(const StepPlan& plan, const StepAllocations& made) {
  std::map<BufferClass, std::size_t> recorded;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    if (plan.instructions[i].frees.size() != 1) continue;
    const std::uint32_t begin = i == 0 ? 0 : made.ends[i - 1];
    for (std::uint32_t call = begin; call < made.ends[i]; ++call)
      recorded[plan.buffer(plan.instructions[i].frees[0]).buffer_class] += made.calls[call].users != 0;
  }
  return recorded;
}

TEST_CASE("a recorded free names the streams that used the buffer") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp1}");
  const StepPlan& plan = planned.plan.steady;
  const auto made = step_allocations(planned, plan, WhoseStorages::executor);
  REQUIRE_OK(made);
  std::size_t recorded = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    CHECK(made->streams[i] == plan.instructions[i].stream);
    const std::uint32_t begin = i == 0 ? 0 : made->ends[i - 1];
    for (std::uint32_t call = begin; call < made->ends[i]; ++call) {
      CHECK((made->calls[call].users != 0) == plan.instructions[i].recorded);
      recorded += made->calls[call].users != 0;
    }
  }
  CHECK(recorded > 0);
}

// Six layers and the root. Forward drops what was gathered of the layers, recorded; backward's hooks drop
// what all seven have, which torch need not record.
TEST_CASE("FSDP1's gradients are joined on the stream that gathers") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp1}");
  const StepPlan& plan = planned.plan.steady;
  const auto own = step_allocations(planned, plan, WhoseStorages::executor);
  const auto made = step_allocations(planned, plan, WhoseStorages::framework);
  REQUIRE_OK(own);
  REQUIRE_OK(made);
  std::size_t joins = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    if (plan.instructions[i].kind != InstructionKind::Pack) continue;
    CHECK(plan.streams[made->streams[i].index()].name == "unshard");
    const AllocationCall& joined = made->calls[made->ends[i] - 1];
    CHECK(joined.kind == CallKind::take);
    CHECK(joined.stream == made->streams[i]);
    ++joins;
  }
  CHECK(joins == 7);
  auto in_torch = recorded_frees(plan, *made), in_plan = recorded_frees(plan, *own);
  CHECK(in_plan[BufferClass::gathered_parameters] == 13);
  CHECK(in_torch[BufferClass::gathered_parameters] == 6);
}

}  // namespace
}  // namespace shardlab
