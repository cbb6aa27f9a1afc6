// The rate limiter of FSDP1: a queue of events, one for each freed gather buffer. Private to this folder.
//
// Source: torch 2.11, fsdp/_limiter_utils.py: before every unshard, even one with nothing to gather, the host
// waits for the oldest event if there are two or more. The queue outlives the step.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "engine/strategies/step_builder.h"

namespace shardlab::fsdp1 {

class FreeEvents {
 public:
  FreeEvents(StepBuilder& builder, bool limits);

  // After the Free of a gathered buffer.
  void add(std::string name, InstructionId freed);
  // Emits the HostWait where the limit is reached.
  void wait_if_full(StreamId stream, UnitId unit);
  // States what is left for the next step.
  void leave();

 private:
  struct Event {
    std::string name;
    std::optional<InstructionId> freed;  // in this step
    std::uint32_t taken = 0;             // else its place in StepPlan::taken_events
  };

  StepBuilder& b_;
  bool limits_;
  std::deque<Event> queue_;
};

}  // namespace shardlab::fsdp1
