#include "engine/execute/torch/prepared_plan.h"

#include <algorithm>

namespace shardlab {
namespace {

class Preparer {
 public:
  Preparer(RunState& run, const StepPlan& plan)
      : run_(run), plan_(plan), last_on_stream_(plan.streams.size(), k_none) {}

  Result<PreparedPlan> prepare() {
    prepared_.plan = &plan_;
    for (const Buffer& buffer : plan_.buffers) {
      SHARDLAB_TRY(const Slot slot, run_.buffers.slot_of(buffer));
      prepared_.slots.push_back(slot);
    }
    prepared_.instructions.resize(plan_.instructions.size());
    for (std::uint32_t i = 0; i < plan_.instructions.size(); ++i) SHARDLAB_CHECK_OK(prepare(i));
    if (run_.backend) prepared_.schedule = schedule_streams(plan_);
    return std::move(prepared_);
  }

 private:
  static constexpr std::uint32_t k_none = 0xffffffffU;

  Status prepare(std::uint32_t index) {
    const Instruction& instruction = plan_.instructions[index];
    PreparedInstruction& prepared = prepared_.instructions[index];
    SHARDLAB_TRY(prepared.action, prepare_action(Site{run_, plan_, InstructionId{index}, prepared_.slots}));
    prepared.background = in_background(instruction);
    if (!manages_memory(instruction.kind)) {
      for (const BufferId id : instruction.allocates)
        prepared.allocates.push_back(prepared_.slots[id.index()]);
      for (const BufferId id : instruction.frees) prepared.frees.push_back(prepared_.slots[id.index()]);
    }
    find_waits(index);
    return instruction.guard == Guard::none ? Status{} : find_guard(index);
  }

  Status find_guard(std::uint32_t index) {
    for (const BufferId id : plan_.instructions[index].reads) {
      if (plan_.buffer(id).role == BufferRole::found_inf)
        prepared_.instructions[index].guard = prepared_.slots[id.index()];
    }
    if (prepared_.instructions[index].guard) return {};
    return internal_error(instruction_label(plan_, InstructionId{index}), "is guarded and reads no flag");
  }

  bool in_background(const Instruction& instruction) const {
    return is_collective(instruction.kind) && instruction.group &&
           plan_.groups[instruction.group->index()].size > 1;
  }

  void find_waits(std::uint32_t index) {
    const Instruction& instruction = plan_.instructions[index];
    for (const InstructionId wait : instruction.waits) await(index, wait.value);
    std::uint32_t& last = last_on_stream_[instruction.stream.index()];
    if (last != k_none) await(index, last);
    for (const BufferId freed : instruction.frees) {
      const std::vector<std::uint32_t> running = running_;
      for (const std::uint32_t collective : running) {
        if (uses(plan_.instructions[collective], freed)) await(index, collective);
      }
    }
    if (!prepared_.instructions[index].background) return;
    last = index;
    running_.push_back(index);
  }

  // Adds a wait for a collective that may still be running; everything queued before it is then done as well.
  void await(std::uint32_t index, std::uint32_t earlier) {
    const auto found = std::find(running_.begin(), running_.end(), earlier);
    if (found == running_.end()) return;
    const auto group_of = [&](std::uint32_t i) { return plan_.instructions[i].group; };
    if (prepared_.instructions[index].background && group_of(index) == group_of(earlier)) return;
    prepared_.instructions[index].awaits.push_back(earlier);
    running_.erase(
        std::remove_if(running_.begin(), running_.end(),
                       [&](std::uint32_t i) { return i <= earlier && group_of(i) == group_of(earlier); }),
        running_.end());
  }

  static bool uses(const Instruction& instruction, BufferId buffer) {
    const auto in = [&](const std::vector<BufferId>& list) {
      return std::find(list.begin(), list.end(), buffer) != list.end();
    };
    return in(instruction.reads) || in(instruction.writes);
  }

  RunState& run_;
  const StepPlan& plan_;
  PreparedPlan prepared_;
  std::vector<std::uint32_t> last_on_stream_;  // collectives
  std::vector<std::uint32_t> running_;         // collectives that nobody has waited for yet
};

}  // namespace

Result<PreparedPlan> prepare_plan(RunState& run, const StepPlan& plan) {
  return Preparer(run, plan).prepare();
}

}  // namespace shardlab
