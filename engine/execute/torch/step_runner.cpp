#include "engine/execute/torch/step_runner.h"

#include <algorithm>
#include <exception>

#include "engine/execute/torch/step_failure.h"

namespace shardlab {

Status StepRunner::run(const PreparedPlan& prepared, StepContext& step, RankTrace& trace,
                       const Before& before) {
  prepared_ = &prepared;
  const std::size_t count = prepared.instructions.size();
  trace.spans.resize(count);
  trace.memory.resize(count);
  pending_.clear();
  pending_.resize(count);
  running_.assign(count, false);
  began_ = monotonic_now();
  try {
    for (std::uint32_t i = 0; i < count; ++i) {
      current_ = i;
      if (before) before(InstructionId{i});
      issue(i, step, trace);
    }
    finish(trace);
  } catch (const std::exception& error) {
    return fail(step_failure(run_, *prepared.plan, InstructionId{current_}, step, ledger_, error));
  }
  return {};
}

void StepRunner::issue(std::uint32_t index, StepContext& step, RankTrace& trace) {
  const PreparedInstruction& instruction = prepared_->instructions[index];
  Span& span = trace.spans[index];
  span.instruction = InstructionId{index};
  span.issue = elapsed();
  ledger_.reset_peak();
  for (const std::uint32_t earlier : instruction.awaits) await(earlier);
  current_ = index;
  span.ready = span.start = instruction.awaits.empty() ? span.issue : elapsed();
  for (const Slot slot : instruction.allocates) run_.buffers.allocate(slot);
  span.skipped = is_skipped(run_, instruction, step);
  if (instruction.action) span.skipped ? instruction.action->skip(step) : instruction.action->run(step);
  for (const Slot slot : instruction.frees) run_.buffers.release(slot);
  if (step.pending) {
    pending_[index] = std::move(step.pending);
    running_[index] = true;
  }
  const bool host_only = is_host_only(prepared_->plan->instructions[index].kind);
  span.end = host_only ? span.start : elapsed();

  MemorySample& sample = trace.memory[index];
  const MemoryReading live = ledger_.live();
  const MemoryReading peak = ledger_.peak();
  sample = {span.instruction, live.total, peak.total, live.by_class, peak.by_class};
}

void StepRunner::await(std::uint32_t index) {
  if (!running_[index]) return;
  current_ = index;
  pending_[index]->wait();
  running_[index] = false;
}

void StepRunner::settle(Slot slot) {
  for (std::uint32_t i = 0; i < running_.size(); ++i) {
    if (!running_[i]) continue;
    const Instruction& instruction = prepared_->plan->instructions[i];
    for (const BufferId id : instruction.writes) {
      if (prepared_->slots[id.index()] == slot) await(i);
    }
  }
}

// Waits for what still runs and fills in the times of collectives, which only their thread knows.
void StepRunner::finish(RankTrace& trace) {
  const std::vector<Instruction>& instructions = prepared_->plan->instructions;
  for (std::uint32_t i = 0; i < pending_.size(); ++i) {
    if (!pending_[i]) continue;
    await(i);
    Span& span = trace.spans[i];
    span.ready = span.issue;
    for (const InstructionId wait : instructions[i].waits)
      span.ready = std::max(span.ready, trace.spans[wait.index()].end);
    span.start = std::max(span.ready, pending_[i]->began_at() - began_);
    span.end = std::max(span.start, pending_[i]->completed_at() - began_);
  }
  for (const Span& span : trace.spans) trace.duration = std::max(trace.duration, span.end);
}

}  // namespace shardlab
