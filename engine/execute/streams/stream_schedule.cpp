#include "engine/execute/streams/stream_schedule.h"

#include <algorithm>
#include <utility>

#include "engine/plan/transfers.h"

namespace shardlab {
namespace {

constexpr ScheduleQueue k_host = 0;

template <typename T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

class Scheduler {
 public:
  Scheduler(const StepPlan& plan, Queueing queueing)
      : plan_(plan),
        on_host_(queueing == Queueing::on_host),
        users_(plan.buffers.size()),
        collectives_(plan.buffers.size()),
        last_of_group_(plan.groups.size()),
        last_on_stream_(plan.streams.size()) {
    schedule_.plan = &plan;
    schedule_.instructions.resize(plan.instructions.size());
    for (std::size_t i = 0; i < plan.streams.size(); ++i) {
      schedule_.queue_of_stream.push_back(on_host_ ? k_host : static_cast<ScheduleQueue>(i));
      if (i == 0 || !on_host_) schedule_.queues.push_back(plan.streams[i].name);
    }
    if (!on_host_) return;
    for (const Group& group : plan.groups) queue_of_group_.push_back(add_queue(to_text(group.ranks)));
    queue_of_drive_.resize(plan.streams.size(), k_host);
    for (const Instruction& instruction : plan.instructions) {
      ScheduleQueue& queue = queue_of_drive_[instruction.stream.index()];
      if (queue == k_host && uses_drive(plan, instruction))
        queue = add_queue(plan.streams[instruction.stream.index()].name);
    }
  }

  StreamSchedule schedule() {
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) add(make_id<InstructionId>(i));
    for (const LeftEvent& left : plan_.left_events) {
      if (left.instruction) at(*left.instruction).signals = true;
    }
    return std::move(schedule_);
  }

 private:
  ScheduledInstruction& at(InstructionId id) { return schedule_.instructions[id.index()]; }

  ScheduleQueue add_queue(std::string name) {
    schedule_.queues.push_back(std::move(name));
    return static_cast<ScheduleQueue>(schedule_.queues.size() - 1);
  }

  ScheduleQueue queue_of(const Instruction& instruction) const {
    if (on_host_ && uses_drive(plan_, instruction)) return queue_of_drive_[instruction.stream.index()];
    const bool apart = on_host_ && is_collective(instruction.kind) && instruction.group &&
                       plan_.groups[instruction.group->index()].size > 1;
    return apart ? queue_of_group_[instruction.group->index()]
                 : schedule_.queue_of_stream[instruction.stream.index()];
  }

  void add(InstructionId id) {
    const Instruction& instruction = plan_.instruction(id);
    ScheduledInstruction& scheduled = at(id);
    scheduled.queue = queue_of(instruction);
    scheduled.blocks_host = instruction.kind == InstructionKind::HostWait;
    scheduled.taken_event = instruction.taken_event;
    scheduled.timed = !is_host_only(instruction.kind);
    for (const InstructionId wait : instruction.waits) add_wait(id, wait);
    keep_group_order(id, instruction);
    if (on_host_) keep_order_on_host(id, instruction);
    note_uses(id, instruction);
    if (runs_segment(instruction.kind)) return;
    scheduled.allocates = instruction.allocates;
    for (const BufferId buffer : instruction.frees)
      scheduled.frees.push_back(
          {buffer, instruction.recorded && !on_host_ ? foreign_users(buffer) : std::vector<ScheduleQueue>()});
  }

  bool is_done_when_issued(InstructionId id) { return on_host_ && at(id).queue == k_host; }

  void add_wait(InstructionId id, InstructionId earlier) {
    ScheduledInstruction& scheduled = at(id);
    if (!scheduled.blocks_host && at(earlier).queue == scheduled.queue) return;
    require(id, earlier);
  }

  void require(InstructionId id, InstructionId earlier) {
    if (is_done_when_issued(earlier) || contains(at(id).waits, earlier)) return;
    at(id).waits.push_back(earlier);
    at(earlier).signals = true;
  }

  void keep_group_order(InstructionId id, const Instruction& instruction) {
    if (!is_collective(instruction.kind) || !instruction.group) return;
    std::optional<InstructionId>& last = last_of_group_[instruction.group->index()];
    if (last) add_wait(id, *last);
    last = id;
  }

  // Streams are no queues here, and what is freed is somebody else's at once.
  void keep_order_on_host(InstructionId id, const Instruction& instruction) {
    std::optional<InstructionId>& last = last_on_stream_[instruction.stream.index()];
    if (last) add_wait(id, *last);
    if (!is_done_when_issued(id)) last = id;
    for (const BufferId freed : instruction.frees) {
      for (const InstructionId user : collectives_[freed.index()]) require(id, user);
    }
  }

  void note_uses(InstructionId id, const Instruction& instruction) {
    const ScheduleQueue queue = at(id).queue;
    for (const BufferId buffer : instruction.allocates) {
      users_[buffer.index()].clear();
      collectives_[buffer.index()].clear();
    }
    for (const auto* list : {&instruction.reads, &instruction.writes}) {
      for (const BufferId buffer : *list) {
        std::vector<ScheduleQueue>& users = users_[buffer.index()];
        if (!contains(users, queue)) users.push_back(queue);
        if (on_host_ && queue != k_host) note_collective(id, collectives_[buffer.index()]);
      }
    }
  }

  // The last of each queue: those before it are done when it is.
  void note_collective(InstructionId id, std::vector<InstructionId>& users) {
    std::erase_if(users, [&](InstructionId user) { return at(user).queue == at(id).queue; });
    users.push_back(id);
  }

  std::vector<ScheduleQueue> foreign_users(BufferId buffer) const {
    std::vector<ScheduleQueue> users = users_[buffer.index()];
    std::erase(users, schedule_.queue_of_stream[plan_.buffer(buffer).stream.index()]);
    return users;
  }

  const StepPlan& plan_;
  const bool on_host_;
  StreamSchedule schedule_;
  std::vector<ScheduleQueue> queue_of_group_;            // on a host
  std::vector<ScheduleQueue> queue_of_drive_;            // on a host, by stream
  std::vector<std::vector<ScheduleQueue>> users_;        // by buffer, since it was allocated
  std::vector<std::vector<InstructionId>> collectives_;  // likewise; on a host
  std::vector<std::optional<InstructionId>> last_of_group_;
  std::vector<std::optional<InstructionId>> last_on_stream_;  // that does not end when it is issued
};

}  // namespace

StreamSchedule schedule_streams(const StepPlan& plan, Queueing queueing) {
  return Scheduler(plan, queueing).schedule();
}

}  // namespace shardlab
