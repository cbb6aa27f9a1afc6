// Instruction: one element of a step plan.
//
// Instructions stand in host issue order. An instruction starts on its stream when everything issued earlier
// on that stream and everything in `waits` is done; a HostWait blocks the host until its waits are done.
// Memory follows the host: what an instruction allocates exists from its issue, what it frees is gone after
// its issue; when freed bytes may be reused is the allocator's business: after the stream that owns them has
// come to the Free, or, where the Free is `recorded` (record_stream), every stream that used them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "engine/plan/instruction_words.h"

namespace shardlab {

struct Instruction {
  InstructionKind kind = InstructionKind::Marker;
  StreamId stream;
  std::optional<UnitId> unit;
  std::optional<SegmentId> segment;
  std::optional<int> micro_batch;
  std::optional<GroupId> group;  // collectives
  int root = 0;                  // Broadcast, Reduce: the place in the group of who sends, who receives
  ReduceOperation reduce = ReduceOperation::none;
  Guard guard = Guard::none;
  Bytes bytes;  // collectives: the full side; copies: what is written; Quantize: what is read and written
  std::vector<BufferId> reads;
  std::vector<BufferId> writes;  // superset of `allocates` (except Alloc, which writes nothing)
  std::vector<BufferId> allocates;
  std::vector<BufferId> frees;  // Free: at its issue; Backward: while it runs, after the last reader inside
  std::vector<InstructionId> waits;  // on other streams; earlier in the plan
  std::optional<std::uint32_t>
      taken_event;  // HostWait: the event of the step before, in StepPlan::taken_events
  bool recorded =
      false;  // Free: the allocator keeps the bytes until every stream that used them has come here
  std::uint16_t pass = 0;  // index in StepPlan::passes: who put it there

  friend bool operator==(const Instruction&, const Instruction&) = default;
};

}  // namespace shardlab
