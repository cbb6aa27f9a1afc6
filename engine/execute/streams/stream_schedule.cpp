#include "engine/execute/streams/stream_schedule.h"

#include <algorithm>

namespace shardlab {
namespace {

class Scheduler {
 public:
  explicit Scheduler(const StepPlan& plan)
      : plan_(plan), users_(plan.buffers.size()), last_of_group_(plan.groups.size()) {
    schedule_.plan = &plan;
    schedule_.instructions.resize(plan.instructions.size());
  }

  StreamSchedule run() {
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) add(make_id<InstructionId>(i));
    for (const LeftEvent& left : plan_.left_events) {
      if (left.instruction) at(*left.instruction).signals = true;
    }
    return std::move(schedule_);
  }

 private:
  ScheduledInstruction& at(InstructionId id) { return schedule_.instructions[id.index()]; }

  void add(InstructionId id) {
    const Instruction& instruction = plan_.instruction(id);
    ScheduledInstruction& scheduled = at(id);
    scheduled.stream = instruction.stream;
    scheduled.blocks_host = instruction.kind == InstructionKind::HostWait;
    scheduled.taken_event = instruction.taken_event;
    scheduled.timed = !is_host_only(instruction.kind);
    for (const InstructionId wait : instruction.waits) add_wait(id, wait);
    keep_group_order(id, instruction);
    note_uses(instruction);
    if (runs_segment(instruction.kind)) return;
    scheduled.allocates = instruction.allocates;
    for (const BufferId buffer : instruction.frees)
      scheduled.frees.push_back(
          {buffer, instruction.recorded ? foreign_users(buffer) : std::vector<StreamId>()});
  }

  void add_wait(InstructionId id, InstructionId earlier) {
    ScheduledInstruction& scheduled = at(id);
    if (!scheduled.blocks_host && plan_.instruction(earlier).stream == scheduled.stream) return;
    if (std::find(scheduled.waits.begin(), scheduled.waits.end(), earlier) != scheduled.waits.end()) return;
    scheduled.waits.push_back(earlier);
    at(earlier).signals = true;
  }

  void keep_group_order(InstructionId id, const Instruction& instruction) {
    if (!is_collective(instruction.kind) || !instruction.group) return;
    std::optional<InstructionId>& last = last_of_group_[instruction.group->index()];
    if (last) add_wait(id, *last);
    last = id;
  }

  void note_uses(const Instruction& instruction) {
    for (const BufferId buffer : instruction.allocates) users_[buffer.index()].clear();
    for (const auto* list : {&instruction.reads, &instruction.writes}) {
      for (const BufferId buffer : *list) {
        std::vector<StreamId>& users = users_[buffer.index()];
        if (std::find(users.begin(), users.end(), instruction.stream) == users.end())
          users.push_back(instruction.stream);
      }
    }
  }

  std::vector<StreamId> foreign_users(BufferId buffer) const {
    std::vector<StreamId> users = users_[buffer.index()];
    std::erase(users, plan_.buffer(buffer).stream);
    return users;
  }

  const StepPlan& plan_;
  StreamSchedule schedule_;
  std::vector<std::vector<StreamId>> users_;  // by buffer, since it was allocated
  std::vector<std::optional<InstructionId>> last_of_group_;
};

}  // namespace

StreamSchedule schedule_streams(const StepPlan& plan) {
  return Scheduler(plan).run();
}

}  // namespace shardlab
