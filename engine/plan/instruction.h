// Instruction: one element of a step plan.
//
// Instructions stand in host issue order. An instruction starts on its stream when everything issued earlier
// on that stream and everything in `waits` is done; a HostWait blocks the host until its waits are done.
// Memory follows the host: what an instruction allocates exists from its issue, what it frees is gone after
// its issue; when freed bytes may be reused is the allocator's business: after the stream that owns them has
// come to the Free, or, where the Free is `recorded` (record_stream), every stream that used them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/ids.h"
#include "engine/base/units.h"

namespace shardlab {

enum class InstructionKind : std::uint8_t {
  Forward,
  Recompute,
  Backward,
  AllGather,
  ReduceScatter,
  Reduce,
  AllReduce,
  Broadcast,
  AllToAll,
  Cast,    // writes = reads in another dtype, element by element
  Pack,    // parameters' pieces into one communication buffer (copy-in)
  Unpack,  // a communication buffer into parameters' pieces (copy-out)
  Quantize,
  Copy,
  Accumulate,  // writes += reads
  Alloc,
  Free,
  HostWait,
  GradientNorms,  // per-parameter squared norms of gradient shards
  Unscale,
  ClipGradients,
  OptimizerStep,
  ZeroGradients,
  Initialize,  // parameter shards from the seed or a checkpoint
  LoadBatch,
  Marker,
};

enum class ReduceOperation : std::uint8_t { none, sum, average };

// Run-time condition agreed by all ranks; the simulator assumes the declared value. A guarded instruction
// reads the flag in role found_inf, which Unscale writes and the ranks add up; it is skipped where that is
// not zero.
enum class Guard : std::uint8_t { none, gradients_finite };

struct Instruction {
  InstructionKind kind = InstructionKind::Marker;
  StreamId stream;
  std::optional<UnitId> unit;
  std::optional<SegmentId> segment;
  std::optional<int> micro_batch;
  std::optional<GroupId> group;  // collectives
  ReduceOperation reduce = ReduceOperation::none;
  Guard guard = Guard::none;
  Bytes bytes;  // collectives: the full side; copies: what is written
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

std::string_view to_string(InstructionKind kind);
std::optional<InstructionKind> parse_instruction_kind(std::string_view name);
std::string_view to_string(ReduceOperation operation);
std::optional<ReduceOperation> parse_reduce_operation(std::string_view name);

constexpr bool is_collective(InstructionKind kind) {
  return kind == InstructionKind::AllGather || kind == InstructionKind::ReduceScatter ||
         kind == InstructionKind::Reduce || kind == InstructionKind::AllReduce ||
         kind == InstructionKind::Broadcast || kind == InstructionKind::AllToAll;
}

// Runs a program of a segment.
constexpr bool runs_segment(InstructionKind kind) {
  return kind == InstructionKind::Forward || kind == InstructionKind::Recompute ||
         kind == InstructionKind::Backward;
}

// Releases or takes memory, or blocks the host; occupies no device time.
constexpr bool is_host_only(InstructionKind kind) {
  return kind == InstructionKind::Alloc || kind == InstructionKind::Free ||
         kind == InstructionKind::HostWait || kind == InstructionKind::Marker;
}

}  // namespace shardlab
