// The calls of a run's steps, made on the model of torch's caching allocator (caching_allocator.h).
//
// A block that other streams were recorded on is given back when the simulated work that was issued to them
// before its free has ended; the host sees it when it asks for the next block (torch 2.11, process_events).
// The clock is the issue of the instructions. A step begins when the one before has ended.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/memory/allocations/prepared_steps.h"
#include "simulator/memory/caching_allocator/allocator_options.h"
#include "simulator/memory/caching_allocator/allocator_statistics.h"
#include "simulator/memory/caching_allocator/allocator_types.h"

namespace shardlab {

// Blocks beside those of the plan, taken for the first matrix product of each kind, when what it writes has
// been taken, and never given back (workspaces of libraries).
struct StandingBlock {
  Bytes bytes;
  StreamId stream;
  bool from_backward = false;  // else from the first product of a Forward
};

// A call that the run made, in torch's own terms.
struct MadeCall {
  enum class Kind : std::uint8_t { malloc, free, record_stream, complete_events, empty_cache };
  Kind kind = Kind::malloc;
  std::uint64_t block = 0;  // of the run's blocks, from 0; of the first three
  Bytes bytes;              // of malloc
  AllocatorStream stream;   // of all that have one
  std::int64_t events = 0;  // of complete_events: so many more are done
};

struct AllocatorCalls {
  std::string options;  // the text of PYTORCH_ALLOC_CONF
  std::vector<MadeCall> calls;
};

struct AllocatorRunInputs {
  AllocatorOptions options;
  AllocatorDevice device;
  std::vector<StandingBlock> standing;
  std::vector<MadeCall>* calls = nullptr;  // where to note them, if anywhere
};

struct FailedBlock {
  std::int64_t step = 0;
  InstructionId instruction;
  Bytes wanted, allocated, reserved;
};

struct AllocatorRun {
  AllocatorStatistics statistics;        // of the whole run, up to a failure
  std::optional<FailedBlock> failed;     // the run ends there
  std::int64_t steady_retries = 0;       // in the last steady step
  std::int64_t steady_device_calls = 0;  // segments taken and given back in the last steady step
  Bytes first_reserved;                  // at the end of the first step, the setup not counted
};

// `steps`: the setup, then the others in order; the last is run again until a step takes no more memory from
// the device, at most eight times. A block that the device has no memory for is `failed`.
AllocatorRun run_allocator(const AllocatorRunInputs& inputs, const PreparedSteps& steps);

// Whether the steps fit, and what they reserve at most: run_allocator() without the counts of its last steps,
// for it ends where a step leaves the allocator as the step before it did.
struct FittingRun {
  bool fits = false;
  Bytes reserved;
};
FittingRun try_allocator(const AllocatorRunInputs& inputs, const PreparedSteps& steps);

// Whether in every step with micro-batches the last but one leaves the allocator as the one before it did:
// then so would any further ones in between that call it as these do, with the host as far ahead of the
// streams. That takes steps of four micro-batches or more. False also where options make states incomparable.
bool repeats_by_micro_batch(const AllocatorRunInputs& inputs, const PreparedSteps& steps);

}  // namespace shardlab
