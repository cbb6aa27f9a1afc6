// The calls of steps made one after the other on the model of the allocator: what the runs of allocator_run.h
// and limited_runs.h do. A value: a copy goes on from where the other was. Private to this folder.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "simulator/memory/allocations/allocator_run.h"
#include "simulator/memory/allocations/noted_allocator.h"
#include "simulator/memory/allocations/state_between_steps.h"
#include "simulator/memory/allocations/stream_events.h"

namespace shardlab {

inline constexpr int k_most_steady_steps = 8;

// What a run is for, besides its figures.
enum class WatchedRun : std::uint8_t { nothing, steps, micro_batches };

inline AllocatorStream allocator_stream(StreamId id) {
  return {static_cast<std::int64_t>(id.value)};
}

// The last instructions of the last two micro-batches that another one follows.
struct MicroBatchEnds {
  std::optional<std::size_t> before, after;
};

inline MicroBatchEnds ends_of_micro_batches(const StepPlan& plan) {
  MicroBatchEnds ends;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const auto& micro_batch = plan.instructions[i].micro_batch;
    if (micro_batch == plan.micro_batches - 3) ends.before = i;
    if (micro_batch == plan.micro_batches - 2) ends.after = i;
  }
  return ends.before && ends.after ? ends : MicroBatchEnds{};
}

class AllocatorRunner {
 public:
  AllocatorRunner(const AllocatorRunInputs& inputs, const PreparedSteps& steps, WatchedRun watch)
      : inputs_(inputs),
        watch_(comparable(inputs.options, inputs.device) ? watch : WatchedRun::nothing),
        allocator_(inputs.options, inputs.device, inputs.calls),
        lasting_(steps.lasting) {}

  // `begins` is called at the beginning of each step, with its number.
  template <typename Begins>
  AllocatorRun run(std::span<const PreparedStep> steps, Begins begins) {
    for (const PreparedStep& each : steps) {
      begins(*this);
      const int times = &each == &steps.back() ? k_most_steady_steps : 1;
      std::optional<StateBetweenSteps> state;
      for (int i = 0; i < times && !run_.failed; ++i) {
        const std::int64_t calls = device_calls();
        run_step(each);
        run_.steady_device_calls = device_calls() - calls;
        if (run_.steady_device_calls == 0 || repeats(state)) break;
      }
      if (each.step.number == 0) run_.first_reserved = allocator_.reserved();
    }
    run_.statistics = allocator_.statistics();
    return run_;
  }

  AllocatorRun run(std::span<const PreparedStep> steps) {
    return run(steps, [](const AllocatorRunner&) {});
  }

  // This run, as it goes on where the device has so much.
  AllocatorRunner within(Bytes available, WatchedRun watch) const {
    AllocatorRunner limited = *this;
    limited.allocator_.limit(available);
    limited.watch_ = comparable(inputs_.options, inputs_.device) ? watch : WatchedRun::nothing;
    return limited;
  }

  Bytes most_reserved() const { return Bytes{allocator_.statistics().reserved_bytes.all.peak}; }

  bool even() const { return watch_ == WatchedRun::micro_batches && !uneven_ && !run_.failed; }

 private:
  std::int64_t device_calls() const {
    return allocator_.statistics().num_device_alloc + allocator_.statistics().num_device_free;
  }

  // Whether a step ended as the one before it, and all later ones will.
  bool repeats(std::optional<StateBetweenSteps>& state) const {
    if (watch_ != WatchedRun::steps || run_.failed) return false;
    StateBetweenSteps now = state_of(allocator_, lasting_);
    const bool same = state && *state == now;
    state = std::move(now);
    return same;
  }

  void run_step(const PreparedStep& each) {
    const auto& [step, made, carried, kept] = each;
    const std::int64_t retries = allocator_.statistics().num_alloc_retries;
    StreamEvents events(allocator_, step.plan.streams.size());
    live_.assign(made.storages, {});
    for (const NumberedStorage& storage : carried) carry(storage);
    const MicroBatchEnds ends =
        watch_ == WatchedRun::micro_batches ? ends_of_micro_batches(step.plan) : MicroBatchEnds{};
    std::optional<StateBetweenSteps> before;
    std::uint32_t call = 0;
    for (std::size_t i = 0; i < step.plan.instructions.size() && !run_.failed; ++i) {
      events.pass(step.spans[i].issue);
      for (; call < made.ends[i] && !run_.failed; ++call) {
        take_standing(step, make_id<InstructionId>(i), made, call);
        make_call(step, make_id<InstructionId>(i), made.calls[call], events);
      }
      events.issued(made.streams[i], step.spans[i].end);
      if (i == ends.before) before = state_of_live();
      if (i == ends.after) uneven_ |= *before != state_of_live();
    }
    events.end();
    std::fill(lasting_.begin(), lasting_.end(), LiveBlock{});
    for (const NumberedStorage& storage : kept) lasting_[storage.number] = live_[storage.storage];
    run_.steady_retries = allocator_.statistics().num_alloc_retries - retries;
  }

  // What no earlier step made (a plan that begins in the middle) is taken now.
  void carry(const NumberedStorage& storage) {
    LiveBlock& live = live_[storage.storage];
    live = lasting_[storage.number];
    if (live.allocation != AllocationId{}) return;
    if (const auto made = allocator_.malloc(storage.bytes, allocator_stream(storage.stream))) live = *made;
  }

  void take_standing(const RunStep& step, InstructionId id, const StepAllocations& made, std::uint32_t call) {
    for (const bool backward : {false, true}) {
      if ((backward ? made.backward_product : made.forward_product) != call) continue;
      if (std::exchange(backward ? backward_standing_ : forward_standing_, true)) continue;
      for (const StandingBlock& block : inputs_.standing)
        if (block.from_backward == backward && !run_.failed) (void)take(step, id, block.bytes, block.stream);
    }
  }

  LiveBlock take(const RunStep& step, InstructionId id, Bytes bytes, StreamId stream) {
    const auto made = allocator_.malloc(bytes, allocator_stream(stream));
    if (made) return *made;
    run_.failed = {step.number, id, bytes, Bytes{allocator_.statistics().allocated_bytes.all.current},
                   allocator_.reserved()};
    return {};
  }

  void make_call(const RunStep& step, InstructionId id, const AllocationCall& call, StreamEvents& events) {
    if (call.kind == CallKind::empty_cache) return allocator_.empty_cache();
    if (call.kind == CallKind::take) {
      live_[call.storage] = take(step, id, call.bytes, call.stream);
      return;
    }
    for (std::uint64_t users = call.users; users != 0; users &= users - 1) {
      const StreamId user{static_cast<std::uint32_t>(std::countr_zero(users))};
      allocator_.record_stream(live_[call.storage], allocator_stream(user));
    }
    allocator_.free(std::exchange(live_[call.storage], {}));
    if (call.users != 0) events.freed();
  }

  // In the order in which storages were taken: what one micro-batch keeps has other numbers than what the
  // next one does.
  StateBetweenSteps state_of_live() const {
    std::vector<LiveBlock> live;
    std::copy_if(live_.begin(), live_.end(), std::back_inserter(live),
                 [](const LiveBlock& each) { return each.allocation != AllocationId{}; });
    return state_of(allocator_, live);
  }

  const AllocatorRunInputs& inputs_;
  WatchedRun watch_;
  NotedAllocator allocator_;
  AllocatorRun run_;
  bool uneven_ = false;             // a micro-batch left another state than the one before it
  std::vector<LiveBlock> live_;     // by storage of the step
  std::vector<LiveBlock> lasting_;  // between steps, by number
  bool forward_standing_ = false, backward_standing_ = false;
};

inline FittingRun fitting(const AllocatorRun& run) {
  return {!run.failed, Bytes{run.statistics.reserved_bytes.all.peak}};
}

}  // namespace shardlab
