// The blocks that a step takes from the caching allocator and gives back, in the order in which the host
// asks.
//
// A storage is one tensor's memory. Buffers are divided into storages as buffer_storages.h says; a segment's
// program is followed step by step: what it keeps for backward are the storages of its bundle, gradients of
// parameters are taken where they are written (plan/gradient_parts.h), temporaries are taken and given back
// within a step. Workspace that only our CPU implementations need is not in it, nor memory of a host.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "simulator/memory/allocations/buffer_storages.h"

namespace shardlab {

using StorageIndex = std::uint32_t;  // within a step

enum class CallKind : std::uint8_t { take, give, empty_cache };

struct AllocationCall {
  CallKind kind = CallKind::take;
  StorageIndex storage = 0;
  Bytes bytes;              // of take
  StreamId stream;          // of take: whose memory it is
  std::uint64_t users = 0;  // of give: the streams it was recorded on, a bit each by StreamId
};

// A storage that is alive at an end of the step. The steps of a run know it by its buffer's name. Those of a
// buffer stand side by side, in order.
struct LastingStorage {
  std::string_view buffer;  // the plan's
  std::size_t part = 0;     // of the buffer's storages
  StorageIndex storage = 0;
  Bytes bytes;
  StreamId stream;
};

struct StepAllocations {
  std::vector<AllocationCall> calls;
  std::vector<std::uint32_t> ends;  // by instruction: one past its last call
  std::vector<StreamId> streams;    // by instruction: where its work goes (issue_streams.h)
  std::vector<LastingStorage> carried, kept;
  // The call in front of which the first matrix product of forward, and of backward, is made.
  std::optional<std::uint32_t> forward_product, backward_product;
  StorageIndex storages = 0;
};

// The plan must outlive the result. `device`: its bytes, by which DeepSpeed decides where to join a model;
// none: it has room. Errors: internal where the plan and its programs disagree, with the instruction.
Result<StepAllocations> step_allocations(const PlannedScenario& planned, const StepPlan& plan,
                                         WhoseStorages whose, Bytes device = {});

}  // namespace shardlab
