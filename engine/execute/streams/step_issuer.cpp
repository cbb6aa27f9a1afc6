#include "engine/execute/streams/step_issuer.h"

#include <stdexcept>

namespace shardlab {

void StepIssuer::issue(const StreamSchedule& schedule, StepBody& body, bool timed, IssuedStep& issued) {
  const StepPlan& plan = *schedule.plan;
  const std::size_t count = schedule.instructions.size();
  queues_.clear();
  for (const std::string& name : schedule.queues) queues_.push_back(device_.queue(name));
  signals_.assign(count, nullptr);
  issued = {};
  issued.starts.resize(count);
  issued.ends.resize(count);
  if (timed) issued.began = device_.record(queues_.front());
  for (std::size_t i = 0; i < count; ++i) {
    at_ = make_id<InstructionId>(i);
    issue_one(schedule, at_, body, timed, issued);
  }
  leave(plan);
  ++steps_;
}

void StepIssuer::issue_one(const StreamSchedule& schedule, InstructionId id, StepBody& body, bool timed,
                           IssuedStep& issued) {
  const StepPlan& plan = *schedule.plan;
  const ScheduledInstruction& scheduled = schedule.instructions[id.index()];
  const QueueIndex queue = queues_[scheduled.queue];
  const bool timed_here = timed && scheduled.timed;
  body.begin(id);
  wait(scheduled, plan);
  body.ready(id);
  for (const BufferId buffer : scheduled.allocates) {
    device_.use(queues_[schedule.queue_of_stream[plan.buffer(buffer).stream.index()]]);
    body.allocate(buffer);
  }
  device_.use(queue);
  if (jitter_) {
    if (const Nanoseconds time = jitter_->before(steps_, id); time.value > 0) device_.delay(queue, time);
  }
  if (timed_here) issued.starts[id.index()] = device_.record(queue);
  body.run(id);
  EventHandle end;
  if (timed_here || scheduled.signals) end = device_.record(queue);
  if (timed_here) issued.ends[id.index()] = end;
  if (scheduled.signals) signals_[id.index()] = end;
  for (const FreedBuffer& freed : scheduled.frees) {
    std::vector<QueueIndex> users;
    for (const ScheduleQueue user : freed.users) users.push_back(queues_[user]);
    body.release(freed.buffer, users);
  }
  body.end(id);
}

void StepIssuer::wait(const ScheduledInstruction& scheduled, const StepPlan& plan) {
  for (const InstructionId earlier : scheduled.waits) {
    const EventHandle& event = signals_[earlier.index()];
    if (scheduled.blocks_host) {
      device_.block(event);
    } else {
      device_.wait(queues_[scheduled.queue], event);
    }
  }
  if (!scheduled.taken_event) return;
  const auto taken = left_.find(plan.taken_events[*scheduled.taken_event]);
  if (taken == left_.end())
    throw std::logic_error("the step before left no event '" + plan.taken_events[*scheduled.taken_event] +
                           "'");
  device_.block(taken->second);
}

// Events that the next step may wait for: of this step, or handed on from the one before.
void StepIssuer::leave(const StepPlan& plan) {
  std::map<std::string, EventHandle> left;
  for (const LeftEvent& event : plan.left_events) {
    if (event.instruction) {
      left[event.name] = signals_[event.instruction->index()];
    } else if (const auto known = left_.find(event.name); known != left_.end()) {
      left[event.name] = known->second;
    }
  }
  left_ = std::move(left);
}

}  // namespace shardlab
