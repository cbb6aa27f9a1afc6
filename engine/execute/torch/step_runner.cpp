#include "engine/execute/torch/step_runner.h"

#include <algorithm>
#include <exception>

#include "engine/execute/streams/device_failure.h"
#include "engine/execute/torch/late_scalars.h"
#include "engine/execute/torch/step_failure.h"

namespace shardlab {

// What instructions do when they are issued, with the sample of memory that belongs to each.
class StepRunner::Body : public StepBody {
 public:
  Body(StepRunner& runner, const PreparedPlan& prepared, StepContext& step, RankTrace& trace,
       const Before& before)
      : runner_(runner), prepared_(prepared), step_(step), trace_(trace), before_(before) {}

  void begin(InstructionId id) override {
    if (before_) before_(id);
    Span& span = trace_.spans[id.index()];
    span.instruction = id;
    span.issue = monotonic_now() - runner_.began_;
    runner_.ledger_.reset_peak();
  }

  // What occupies no queue is at this moment.
  void ready(InstructionId id) override {
    Span& span = trace_.spans[id.index()];
    const ScheduledInstruction& scheduled = prepared_.schedule.instructions[id.index()];
    const bool waited = !scheduled.waits.empty() || scheduled.taken_event;
    span.ready = span.start = span.end = waited ? monotonic_now() - runner_.began_ : span.issue;
  }

  void allocate(BufferId buffer) override { runner_.run_.buffers.allocate(slot(buffer)); }

  void run(InstructionId id) override {
    // In the queue that writes it first: whoever still reads what lay there before, and is not waited for,
    // reads NaN.
    for (const BufferId buffer : prepared_.schedule.instructions[id.index()].allocates)
      runner_.run_.buffers.poison(slot(buffer));
    const PreparedInstruction& instruction = prepared_.instructions[id.index()];
    if (!instruction.action) return;
    Span& span = trace_.spans[id.index()];
    span.skipped = is_skipped(runner_.run_, instruction, step_);
    span.skipped ? instruction.action->skip(step_) : instruction.action->run(step_);
    if (step_.pending) runner_.run_.backend->streams().adopt(std::move(step_.pending));
  }

  void release(BufferId buffer, std::span<const QueueIndex> users) override {
    BufferTable& buffers = runner_.run_.buffers;
    for (const QueueIndex user : users) {
      for (const at::Tensor& part : buffers.parts(slot(buffer))) {
        if (part.defined()) runner_.run_.backend->keep_for(part, user);
      }
    }
    buffers.release(slot(buffer));
  }

  void end(InstructionId id) override {
    const MemoryReading live = runner_.ledger_.live();
    const MemoryReading peak = runner_.ledger_.peak();
    trace_.memory[id.index()] = {
        id, live.total, peak.total, live.by_class, peak.by_class, live.elsewhere, peak.elsewhere};
  }

 private:
  Slot slot(BufferId buffer) const { return prepared_.slots[buffer.index()]; }

  StepRunner& runner_;
  const PreparedPlan& prepared_;
  StepContext& step_;
  RankTrace& trace_;
  const Before& before_;
};

StepRunner::StepRunner(RunState& run, MemoryLedger& ledger, std::optional<Jitter> jitter)
    : run_(run), ledger_(ledger), issuer_(run.backend->streams(), jitter) {}

Status StepRunner::run(const PreparedPlan& prepared, StepContext& step, RankTrace& trace,
                       const Before& before) {
  const std::size_t count = prepared.instructions.size();
  trace.spans.resize(count);
  trace.memory.resize(count);
  // A loss for each micro-batch, and the norm.
  LateScalars late(*run_.backend, prepared.plan->micro_batches + 1);
  step.late = &late;
  issued_ = {};
  began_ = monotonic_now();
  try {
    Body body(*this, prepared, step, trace, before);
    // All queues are empty here: what the first event marks is this moment.
    const Nanoseconds offset = monotonic_now() - began_;
    issuer_.issue(prepared.schedule, body, true, issued_);
    run_.backend->streams().drain();
    late.deliver();
    read_times(prepared, offset, trace);
  } catch (const std::exception& error) {
    return fail(step_failure(run_, *prepared.plan, culprit(error), step, ledger_, error));
  }
  return {};
}

void StepRunner::read_times(const PreparedPlan& prepared, Nanoseconds offset, RankTrace& trace) {
  StreamDevice& device = run_.backend->streams();
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    Span& span = trace.spans[i];
    if (issued_.ends[i]) {
      // The two clocks are matched once a step, to microseconds: nothing starts before it is issued.
      span.start = std::max(span.issue, offset + device.between(issued_.began, issued_.starts[i]));
      span.end = std::max(span.start, offset + device.between(issued_.began, issued_.ends[i]));
    }
    for (const InstructionId wait : prepared.plan->instructions[i].waits)
      span.ready = std::max(span.ready, trace.spans[wait.index()].end);
    span.ready = std::min(span.ready, span.start);
    trace.duration = std::max(trace.duration, span.end);
  }
}

// What a call of the host throws is about the instruction that it issues, whatever the device is doing
// meanwhile: memory is missing where it is asked for. The device's own failure is about what it is doing.
InstructionId StepRunner::culprit(const std::exception& error) {
  if (dynamic_cast<const DeviceFailure*>(&error) == nullptr) return issuer_.at();
  StreamDevice& device = run_.backend->streams();
  for (std::size_t i = 0; i < issued_.starts.size(); ++i) {
    try {
      if (issued_.starts[i] && device.failed_between(issued_.starts[i], issued_.ends[i]))
        return make_id<InstructionId>(i);
    } catch (const std::exception&) {
      break;  // a device that failed as a whole answers nothing any more
    }
  }
  return issuer_.at();
}

}  // namespace shardlab
