// What the marks and collectives of one step say about who trains: counts, nothing concluded. Private to this
// folder.
//
// Source: annotations of torch 2.11 (FSDP::pre_forward (layers.0), FullyShardedDataParallel.forward,
// DistributedDataParallel.forward, Optimizer.step#AdamW.step) and, where stacks were recorded, the names of
// Python's functions (nn.Module: LlamaDecoderLayer_3, deepspeed/runtime/zero/stage3.py(..): step). DeepSpeed
// 0.19 marks its engine with NVTX alone, which a profile shows only where NVTX was sent to it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/profiler/profiler_trace.h"
#include "engine/plan/instruction.h"

namespace shardlab {

// A module that FSDP2 wraps; "root" is the model.
struct SeenUnit {
  std::string module;
  int forwards = 0, gathers = 0, reductions = 0;
};

// Collectives of one kind and dtype among groups of one size.
struct ProfiledCollectives {
  InstructionKind kind = InstructionKind::AllGather;
  std::string dtype;   // as the trace writes it
  int group_size = 0;  // 0: not told
  int count = 0;
  std::int64_t elements = 0;  // of all of them, the full side
};

struct SeenMarks {
  std::vector<SeenUnit> units;  // of FSDP2, in the order of their first forward
  int fsdp1_forwards = 0;       // of all units
  int fsdp1_steps = 0;          // of the root: one for each micro-batch
  int ddp_forwards = 0;
  bool deepspeed = false, zero_3 = false, zero_1_or_2 = false;
  int deepspeed_forwards = 0;          // 0: not marked
  std::string optimizer;               // its class; empty: not marked
  std::map<std::string, int> classes;  // of modules -> how many of each, where stacks were recorded
  std::vector<ProfiledCollectives> collectives;

  const ProfiledCollectives* most_of(InstructionKind kind) const;  // by elements; null: there is none
  int count_of(InstructionKind kind) const;
};

// The marks in the trace's last step.
SeenMarks seen_marks(const ProfilerTrace& trace);

// Whether a Python function's name says what trains: those that the reader keeps of a recorded stack.
bool says_who_trains(std::string_view function);

}  // namespace shardlab
