#include "engine/execute/torch/device_step_runner.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "engine/execute/torch/late_scalars.h"
#include "engine/execute/torch/step_failure.h"

namespace shardlab {

// What instructions do when they are issued, with the sample of memory that belongs to each.
class DeviceStepRunner::Body : public StepBody {
 public:
  Body(DeviceStepRunner& runner, const PreparedPlan& prepared, StepContext& step, RankTrace& trace,
       const Before& before)
      : runner_(runner), prepared_(prepared), step_(step), trace_(trace), before_(before) {}

  void begin(InstructionId id) override {
    if (before_) before_(id);
    Span& span = trace_.spans[id.index()];
    span.instruction = id;
    span.issue = span.ready = span.start = span.end = monotonic_now() - runner_.began_;
    runner_.ledger_.reset_peak();
  }

  void allocate(BufferId buffer) override { runner_.run_.buffers.allocate(slot(buffer)); }

  void run(InstructionId id) override {
    const PreparedInstruction& instruction = prepared_.instructions[id.index()];
    if (!instruction.action) return;
    Span& span = trace_.spans[id.index()];
    span.skipped = is_skipped(runner_.run_, instruction, step_);
    span.skipped ? instruction.action->skip(step_) : instruction.action->run(step_);
    if (!step_.pending) return;
    step_.pending->wait();  // a communicator that knows no queues
    step_.pending.reset();
  }

  void release(BufferId buffer, std::span<const QueueIndex> users) override {
    BufferTable& buffers = runner_.run_.buffers;
    for (const QueueIndex user : users) {
      if (buffers.tensor(slot(buffer)).defined())
        runner_.run_.backend->keep_for(buffers.tensor(slot(buffer)), user);
    }
    buffers.release(slot(buffer));
  }

  void end(InstructionId id) override {
    const MemoryReading live = runner_.ledger_.live();
    const MemoryReading peak = runner_.ledger_.peak();
    trace_.memory[id.index()] = {id, live.total, peak.total, live.by_class, peak.by_class};
  }

 private:
  Slot slot(BufferId buffer) const { return prepared_.slots[buffer.index()]; }

  DeviceStepRunner& runner_;
  const PreparedPlan& prepared_;
  StepContext& step_;
  RankTrace& trace_;
  const Before& before_;
};

DeviceStepRunner::DeviceStepRunner(RunState& run, MemoryLedger& ledger)
    : run_(run), ledger_(ledger), issuer_(run.backend->streams()) {}
DeviceStepRunner::~DeviceStepRunner() = default;

Status DeviceStepRunner::run(const PreparedPlan& prepared, StepContext& step, RankTrace& trace,
                             const Before& before) {
  const std::size_t count = prepared.instructions.size();
  trace.spans.resize(count);
  trace.memory.resize(count);
  LateScalars late(run_.backend->host_memory(prepared.plan->micro_batches + 1, at::kFloat));
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
    return fail(step_failure(run_, *prepared.plan, culprit(), step, ledger_, error));
  }
  return {};
}

void DeviceStepRunner::settle(Slot) {
  run_.backend->streams().drain();
}

void DeviceStepRunner::read_times(const PreparedPlan& prepared, Nanoseconds offset, RankTrace& trace) {
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

InstructionId DeviceStepRunner::culprit() {
  StreamDevice& device = run_.backend->streams();
  for (std::size_t i = 0; i < issued_.ends.size(); ++i) {
    try {
      const bool begun = issued_.starts[i] && device.passed(issued_.starts[i]);
      if (begun && issued_.ends[i] && !device.passed(issued_.ends[i])) return make_id<InstructionId>(i);
    } catch (const std::exception&) {
      break;  // a device that failed as a whole answers nothing any more
    }
  }
  return issuer_.at();
}

}  // namespace shardlab
