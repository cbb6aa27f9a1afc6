// check_plan must find what a defective strategy could do: one mutation of a sound plan each.
#include <algorithm>
#include <functional>

#include "engine/plan/check.h"
#include "engine/strategies/step_builder.h"
#include "tests/catch.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

StepPlan sound_plan(const std::vector<std::string>& overrides = {}) {
  StepPlan plan = plan_small_llama(overrides).plan.steady;
  REQUIRE(check_plan(plan));
  return plan;
}

using Predicate = std::function<bool(const Instruction&)>;

std::size_t find(const StepPlan& plan, const Predicate& wanted) {
  const auto& all = plan.instructions;
  const auto found = std::find_if(all.begin(), all.end(), wanted);
  REQUIRE(found != all.end());
  return static_cast<std::size_t>(found - all.begin());
}

Predicate of_kind(InstructionKind kind) {
  return [kind](const Instruction& instruction) { return instruction.kind == kind; };
}

// Takes an instruction out; whoever waited for it waits for what it waited for.
void remove(StepPlan& plan, std::size_t index) {
  const std::vector<InstructionId> inherited = plan.instructions[index].waits;
  plan.instructions.erase(plan.instructions.begin() + static_cast<std::ptrdiff_t>(index));
  for (Instruction& instruction : plan.instructions) {
    std::vector<InstructionId> waits;
    for (InstructionId wait : instruction.waits) {
      if (wait.index() == index) {
        waits.insert(waits.end(), inherited.begin(), inherited.end());
      } else {
        waits.push_back(wait.index() > index ? InstructionId{wait.value - 1} : wait);
      }
    }
    instruction.waits = std::move(waits);
  }
}

// The same instruction once more right after itself.
void repeat(StepPlan& plan, std::size_t index) {
  const Instruction again = plan.instructions[index];
  for (Instruction& instruction : plan.instructions) {
    for (InstructionId& wait : instruction.waits) {
      if (wait.index() >= index) ++wait.value;
    }
  }
  plan.instructions.insert(plan.instructions.begin() + static_cast<std::ptrdiff_t>(index) + 1, again);
}

std::string defect(const StepPlan& plan) {
  const Status status = check_plan(plan);
  return status ? "sound" : to_string(status.error());
}

}  // namespace

TEST_CASE("check finds a name that two buffers have") {
  StepPlan plan = sound_plan();
  plan.buffers[1].name = plan.buffers[0].name;
  CHECK_THAT(defect(plan), contains_text("two buffers are called " + plan.buffers[0].name));
}

TEST_CASE("check finds a removed wait") {
  StepPlan plan = sound_plan();
  // Every single wait of an Unpack, a collective or a Free: without it somebody reads too early or memory is
  // reused too early.
  std::size_t tried = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    if (plan.instructions[i].waits.empty() || plan.instructions[i].waits.front().value == 0) continue;
    StepPlan mutated = plan;
    mutated.instructions[i].waits.clear();
    INFO(instruction_label(plan, make_id<InstructionId>(i)));
    const InstructionKind kind = plan.instructions[i].kind;
    if (kind == InstructionKind::Unpack || is_collective(kind))
      CHECK_THAT(defect(mutated), contains_text("a wait is missing"));
    ++tried;
  }
  CHECK(tried > 20);
}

TEST_CASE("check finds memory reused under another stream's feet") {
  StepPlan plan = sound_plan();
  const std::size_t index = find(plan, [&](const Instruction& instruction) {
    return instruction.kind == InstructionKind::Free &&
           plan.buffer(instruction.frees.front()).name == "rsin.u3";
  });
  plan.instructions[index].waits.clear();
  CHECK_THAT(defect(plan), contains_text("may be given the memory of rsin.u3"));
}

TEST_CASE("check finds a double free") {
  StepPlan plan = sound_plan();
  const std::size_t index = find(plan, of_kind(InstructionKind::Free));
  plan.instructions.push_back(plan.instructions[index]);
  plan.instructions.back().waits.clear();
  CHECK_THAT(defect(plan), contains_text("which is not alive"));
}

TEST_CASE("check finds a missing free") {
  StepPlan plan = sound_plan();
  const std::size_t last_free =
      plan.instructions.size() - 1 -
      static_cast<std::size_t>(
          std::find_if(plan.instructions.rbegin(), plan.instructions.rend(), of_kind(InstructionKind::Free)) -
          plan.instructions.rbegin());
  remove(plan, last_free);
  CHECK_THAT(defect(plan), contains_text("a Free is missing"));
}

TEST_CASE("check finds a use after free") {
  StepPlan plan = sound_plan();
  const std::size_t backward = find(plan, of_kind(InstructionKind::Backward));
  Instruction early;
  early.kind = InstructionKind::Free;
  early.frees = {plan.instructions[backward].reads.front()};
  plan.instructions[backward - 1] = early;
  CHECK_THAT(defect(plan), contains_text("not alive"));
}

TEST_CASE("check finds swapped collectives") {
  for (const InstructionKind kind : {InstructionKind::AllGather, InstructionKind::ReduceScatter}) {
    StepPlan plan = sound_plan();
    const std::size_t first = find(plan, of_kind(kind));
    const auto after_first = plan.instructions.begin() + static_cast<std::ptrdiff_t>(first) + 1;
    const auto next = std::find_if(after_first, plan.instructions.end(), of_kind(kind));
    REQUIRE(next != plan.instructions.end());
    std::iter_swap(plan.instructions.begin() + static_cast<std::ptrdiff_t>(first), next);
    CHECK(defect(plan) != "sound");
  }
}

TEST_CASE("check finds a missing reduction") {
  SECTION("fsdp2") {
    StepPlan plan = sound_plan();
    remove(plan, find(plan, of_kind(InstructionKind::ReduceScatter)));
    CHECK(defect(plan) != "sound");
  }
  SECTION("ddp") {
    StepPlan plan = sound_plan({"parallel.strategy=ddp"});
    remove(plan, find(plan, of_kind(InstructionKind::AllReduce)));
    CHECK_THAT(defect(plan), contains_text("was not reduced over the ranks"));
  }
}

TEST_CASE("check finds a gradient reduced twice") {
  StepPlan plan = sound_plan({"parallel.strategy=ddp"});
  repeat(plan, find(plan, of_kind(InstructionKind::AllReduce)));
  CHECK_THAT(defect(plan), contains_text("twice"));
}

TEST_CASE("check follows gradients over both dimensions of a mesh") {
  StepPlan plan = sound_plan({"parallel.strategy=ddp"});
  plan.world_size = 4;
  plan.groups.push_back({{GroupDimension::shard}, 2});
  CHECK_THAT(defect(plan), contains_text("was not reduced over the ranks: 2 of 4"));
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    if (plan.instructions[i].kind != InstructionKind::AllReduce) continue;
    repeat(plan, i);
    plan.instructions[++i].group = GroupId{1};
  }
  CHECK(defect(plan) == "sound");
}

TEST_CASE("check finds compute that reads parameters nobody gathered") {
  StepPlan plan = sound_plan();
  remove(plan, find(plan, of_kind(InstructionKind::Unpack)));
  CHECK_THAT(defect(plan), contains_text("full.root, which is not alive"));
}

TEST_CASE("check finds a wait for the future") {
  StepPlan plan = sound_plan();
  plan.instructions[3].waits = {InstructionId{9}};
  CHECK_THAT(defect(plan), contains_text("not earlier"));
}

TEST_CASE("check finds a collective of the wrong size") {
  StepPlan plan = sound_plan();
  plan.instructions[find(plan, of_kind(InstructionKind::AllGather))].bytes += Bytes{4};
  CHECK_THAT(defect(plan), contains_text("its buffers hold"));
}

TEST_CASE("check_run finds a step that does not follow itself") {
  RunPlan run = plan_small_llama({}).plan;
  REQUIRE(check_run(run));
  for (Buffer& buffer : run.steady.buffers) {
    if (buffer.name == "exp_avg.u0") buffer.name = "exp_avg.other";
  }
  CHECK_FALSE(check_run(run));
}

namespace {

// With the small Llama's state in host memory.
StepPlan offloaded_plan() {
  return sound_plan({"offload.parameters=cpu", "train.clip_norm=1"});
}

std::size_t find_copy(const StepPlan& plan, const std::string& written) {
  return find(plan, [&](const Instruction& instruction) {
    return instruction.kind == InstructionKind::Copy &&
           plan.buffer(instruction.writes.front()).name == written;
  });
}

}  // namespace

TEST_CASE("check finds host memory that is not there yet") {
  StepPlan plan = offloaded_plan();
  SECTION("gradients that the host does not wait for") {
    const std::size_t norms = find(plan, of_kind(InstructionKind::GradientNorms));
    for (std::size_t i = norms; i-- > 0;)
      if (plan.instructions[i].kind == InstructionKind::HostWait) remove(plan, i);
    CHECK_THAT(defect(plan), contains_text("GradientNorms") && contains_text("without waiting for"));
  }
  SECTION("a gradient that is never copied") {
    const std::size_t copied = find_copy(plan, "gshard.u1");
    plan.instructions[copied].writes = plan.instructions[copied].allocates = {};
    CHECK_THAT(defect(plan), contains_text("which is not alive"));
  }
}

TEST_CASE("check finds a device that reads host memory") {
  StepPlan plan = offloaded_plan();
  const std::size_t copied = find_copy(plan, "gathered.u1");
  plan.instructions[copied].kind = InstructionKind::Pack;
  plan.instructions[copied].reads = {plan.instructions[find_copy(plan, "arrived.u1")].reads.front()};
  CHECK_THAT(defect(plan), contains_text("in pinned_host memory beside gathered.u1 on the device"));
}

TEST_CASE("check finds a forward on host memory") {
  StepPlan plan = offloaded_plan();
  const std::size_t forward = find(plan, of_kind(InstructionKind::Forward));
  for (const auto* list : {&plan.instructions[forward].reads, &plan.instructions[forward].writes})
    for (const BufferId id : *list) plan.buffers[id.index()].space = MemorySpace::pageable_host;
  CHECK(defect(plan) != "sound");
}

// The state of the embedding's sub-group on a drive.
StepPlan swapped_plan() {
  return sound_plan({"parallel.strategy=zero3", "precision.param=bfloat16", "model.overrides.vocab_size=8200",
                     "parallel.zero={reduce_bucket_size: 600000, sub_group_size: 200000}",
                     "cluster.nvme.path=/drive", "offload.optimizer=nvme"});
}

std::size_t find_drive_copy(const StepPlan& plan, const std::string& file, MemorySpace from) {
  return find(plan, [&](const Instruction& instruction) {
    if (instruction.kind != InstructionKind::Copy || instruction.reads.empty()) return false;
    const Buffer &read = plan.buffer(instruction.reads.front()),
                 &written = plan.buffer(instruction.writes.front());
    return read.space == from && (read.name == file || written.name == file);
  });
}

TEST_CASE("check finds a drive that is not waited for") {
  StepPlan plan = swapped_plan();
  SECTION("an update of what is still being read") {
    const std::size_t update = find(plan, of_kind(InstructionKind::OptimizerStep));
    for (std::size_t i = update; i-- > find_drive_copy(plan, "drive.master", MemorySpace::disk);)
      if (plan.instructions[i].kind == InstructionKind::HostWait) remove(plan, i);
    CHECK_THAT(defect(plan), contains_text("without waiting for"));
  }
  SECTION("a write of what is still being updated") {
    const std::size_t written = find_drive_copy(plan, "drive.master", MemorySpace::pinned_host);
    plan.instructions[written].waits.clear();
    plan.instructions[find(plan, of_kind(InstructionKind::OptimizerStep))].stream = StepBuilder::compute();
    CHECK(defect(plan) != "sound");
  }
  SECTION("a staging buffer that is filled while it is written") {
    const std::size_t written = find_drive_copy(plan, "drive.exp_avg_sq", MemorySpace::pinned_host);
    for (std::size_t i = plan.instructions.size(); i-- > written;)
      if (plan.instructions[i].kind == InstructionKind::HostWait) remove(plan, i);
    CHECK(defect(plan) != "sound");
  }
}

TEST_CASE("check finds a staging slot in use twice") {
  StepPlan plan = swapped_plan();
  const auto staged = [&](std::string_view name) -> Buffer& {
    return *std::find_if(plan.buffers.begin(), plan.buffers.end(), [&](const Buffer& buffer) {
      return buffer.within && buffer.name.starts_with(name);
    });
  };
  SECTION("upon another buffer") {
    staged("exp_avg.").within = staged("master.").within;
    CHECK_THAT(defect(plan), contains_text("is put where master."));
  }
  SECTION("with its last element in another") {
    staged("exp_avg.").within->first = staged("master.").within->first + staged("master.").elements - 1;
    CHECK_THAT(defect(plan), contains_text("is put where master."));
  }
  SECTION("outside of the pool") {
    const Buffer& pool = plan.buffer(staged("master.").within->pool);
    staged("master.").within->first = pool.elements - staged("master.").elements + 1;
    CHECK_THAT(defect(plan), contains_text("are not all inside staging"));
  }
  SECTION("in a pool of another memory") {
    staged("master.").space = MemorySpace::pageable_host;
    CHECK_THAT(defect(plan), contains_text("cannot be its pool"));
  }
}

TEST_CASE("check finds a drive that is used like memory") {
  StepPlan plan = swapped_plan();
  SECTION("by the optimizer") {
    const Instruction& read = plan.instructions[find_drive_copy(plan, "drive.master", MemorySpace::disk)];
    Instruction& update = plan.instructions[find(plan, of_kind(InstructionKind::OptimizerStep))];
    std::replace(update.reads.begin(), update.reads.end(), read.writes.front(), read.reads.front());
    CHECK_THAT(defect(plan), contains_text("which lies in disk memory"));
  }
  SECTION("from pageable memory") {
    const std::size_t written = find_drive_copy(plan, "drive.master", MemorySpace::pinned_host);
    Buffer& staged = plan.buffers[plan.instructions[written].reads.front().index()];
    staged.space = MemorySpace::pageable_host;
    staged.within.reset();
    CHECK_THAT(defect(plan), contains_text("begin and end in page-locked memory"));
  }
  SECTION("with a conversion") {
    plan.instructions[find_drive_copy(plan, "drive.master", MemorySpace::pinned_host)].kind =
        InstructionKind::Cast;
    CHECK_THAT(defect(plan), contains_text("converts drive.master"));
  }
}

TEST_CASE("check finds a master that is not written back") {
  StepPlan plan = swapped_plan();
  remove(plan, find_drive_copy(plan, "drive.master", MemorySpace::pinned_host));
  CHECK_THAT(defect(plan), contains_text("as they were before the optimizer's step"));
}

TEST_CASE("check finds a copy of parameters older than their update") {
  StepPlan plan = sound_plan({"parallel.strategy=zero1", "precision.param=bfloat16"});
  const std::size_t step = find(plan, of_kind(InstructionKind::OptimizerStep));
  const std::size_t copied = find(plan, [&](const Instruction& instruction) {
    return (instruction.kind == InstructionKind::Cast || instruction.kind == InstructionKind::Copy) &&
           static_cast<std::size_t>(&instruction - plan.instructions.data()) > step;
  });
  remove(plan, copied);
  CHECK_THAT(defect(plan), contains_text("as they were before the optimizer's step"));
}

}  // namespace shardlab::test
