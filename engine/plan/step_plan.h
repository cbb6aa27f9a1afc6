// StepPlan: what one step does, as a printable, comparable value. RunPlan: the steps of a run.
//
// The text form (plan/text.h, docs/plan-format.md) holds exactly what is here. There is one plan for all
// ranks of a role.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/words.h"
#include "engine/plan/buffer.h"
#include "engine/plan/group.h"
#include "engine/plan/instruction.h"
#include "engine/plan/stream_words.h"

namespace shardlab {

// Which steps of a run a plan is for: setup before the first; `second` where that is not yet like the later
// ones; steady for every later one; teardown after the last.
enum class PlanPhase : std::uint8_t { setup, first, second, steady, teardown };
template <>
inline constexpr auto k_words<PlanPhase> = std::to_array<Word<PlanPhase>>({{PlanPhase::setup, "setup"},
                                                                           {PlanPhase::first, "first"},
                                                                           {PlanPhase::second, "second"},
                                                                           {PlanPhase::steady, "steady"},
                                                                           {PlanPhase::teardown,
                                                                            "teardown"}});

// Host time is not a stream: Alloc, Free and HostWait stand on the stream whose memory or work they speak of.
struct Stream {
  std::string name;  // "compute", "copy_in", "all_gather", "reduce_scatter" ...
  StreamRole role = StreamRole::other;
  friend bool operator==(const Stream&, const Stream&) = default;
};

// With the role whose word the name is.
Stream stream_called(std::string name);

// Header entries, so that a plan reads on its own.
struct PlanUnit {
  std::string name;  // "root", "u0"
  std::string module_path;
  std::int64_t elements = 0;
  std::int64_t padded_elements = 0;  // of the gathered side, all ranks' padding included
  friend bool operator==(const PlanUnit&, const PlanUnit&) = default;
};
struct PlanSegment {
  std::string name;  // "s0"
  UnitId unit;
  OperatorId begin, end;
  Bytes forward_peak;  // of the segment's program, above its start
  Bytes backward_peak;
  std::optional<OperatorId> recompute_end;  // [begin, recompute_end) is run again in backward
  Bytes recompute_peak;
  friend bool operator==(const PlanSegment&, const PlanSegment&) = default;
};

// Something the host of the next step may wait for: queued by this step, or taken over and not consumed.
struct LeftEvent {
  std::string name;                          // "u2.backward.mb0": which free of which pass
  std::optional<InstructionId> instruction;  // that it follows; none for one taken over
  friend bool operator==(const LeftEvent&, const LeftEvent&) = default;
};

struct StepPlan {
  PlanPhase phase = PlanPhase::steady;
  std::string strategy;    // fsdp2 ...
  std::string graph_hash;  // structure_hash of the model
  int world_size = 1;
  int micro_batches = 1;
  std::vector<Group> groups;
  std::vector<Stream> streams;            // compute first
  std::vector<PlanUnit> units;            // by UnitId
  std::vector<PlanSegment> segments;      // by SegmentId
  std::vector<std::string> taken_events;  // of the step before, oldest first
  std::vector<LeftEvent> left_events;     // for the step after, oldest first
  std::vector<std::string> passes;        // by Instruction::pass
  std::vector<Buffer> buffers;
  std::vector<Instruction> instructions;

  // Out of line: many hand it on, and few look into all of it.
  StepPlan();
  StepPlan(const StepPlan&);
  StepPlan(StepPlan&&) noexcept;
  StepPlan& operator=(const StepPlan&);
  StepPlan& operator=(StepPlan&&) noexcept;
  ~StepPlan();

  const Buffer& buffer(BufferId id) const { return buffers[id.index()]; }
  const Instruction& instruction(InstructionId id) const { return instructions[id.index()]; }
  friend bool operator==(const StepPlan&, const StepPlan&) = default;
};

struct RunPlan {
  StepPlan setup;                  // allocates and fills what lives across steps
  StepPlan first;                  // creates optimizer states
  std::optional<StepPlan> second;  // where the second step is not yet like the later ones
  StepPlan steady;                 // every later step

  // The plan of a step counted from 0; -1 is the setup.
  const StepPlan& step(std::int64_t number) const;
  // Nothing for a phase that the run has no plan for.
  const StepPlan* find(PlanPhase phase) const;
  // The number of the first step that follows `steady`.
  std::int64_t first_steady_step() const { return second ? 2 : 1; }
  // Setup first, each once.
  std::vector<const StepPlan*> all() const;
};

// Hash of the canonical text of the plan; passes are not part of it.
std::string plan_hash(const StepPlan& plan);
std::string run_hash(const RunPlan& plan);

// "12 AllGather u3", "13 Forward s4 mb0": for messages and tables.
std::string instruction_label(const StepPlan& plan, InstructionId id);

// Live bytes of one space after each instruction on the host's clock (what the instruction's own program uses
// in between is not in it).
std::vector<Bytes> live_bytes_after(const StepPlan& plan, MemorySpace space = MemorySpace::device);

// Bytes of one space alive when the step begins.
Bytes carried_bytes(const StepPlan& plan, MemorySpace space = MemorySpace::device);

}  // namespace shardlab
