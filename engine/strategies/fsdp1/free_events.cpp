#include "engine/strategies/fsdp1/free_events.h"

#include "engine/model/join_teacher.h"

namespace shardlab::fsdp1 {
namespace {

constexpr std::size_t k_max_inflight_all_gathers = 2;

}  // namespace

FreeEvents::FreeEvents(StepBuilder& builder, bool limits) : b_(builder), limits_(limits) {
  const std::vector<std::string>& taken = b_.plan().taken_events;
  for (std::uint32_t i = 0; i < taken.size(); ++i) {
    if (taken[i].starts_with(k_teacher_prefix) == b_.scope().forward_only)
      queue_.push_back({taken[i], std::nullopt, i});
  }
}

void FreeEvents::add(std::string name, InstructionId freed) {
  if (limits_) queue_.push_back({std::move(name), freed, 0});
}

void FreeEvents::wait_if_full(StreamId stream, UnitId unit) {
  if (!limits_ || queue_.size() < k_max_inflight_all_gathers) return;
  const Event event = queue_.front();
  queue_.pop_front();
  Instruction wait;
  wait.kind = InstructionKind::HostWait;
  wait.stream = stream;
  wait.unit = unit;
  if (event.freed) {
    wait.waits = {*event.freed};
  } else {
    wait.taken_event = event.taken;
  }
  b_.emit(std::move(wait));
}

void FreeEvents::leave() {
  for (const Event& event : queue_) b_.plan().left_events.push_back({event.name, event.freed});
}

}  // namespace shardlab::fsdp1
