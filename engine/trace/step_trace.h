// StepTrace: what happened, or is predicted to happen, for each instruction of a step on each rank.
//
// Both executors return it. Times are integer nanoseconds since the start of the step on that rank;
// `start_offset` places the ranks' steps on one clock. Predicted and measured traces of one plan join on
// (plan_hash, instruction id).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "engine/plan/buffer.h"
#include "engine/plan/instruction.h"
#include "engine/trace/device_memory.h"
#include "engine/trace/fit_estimate.h"
#include "engine/trace/life_phase.h"
#include "engine/trace/memory_overhead.h"
#include "engine/trace/operator_time.h"

namespace shardlab {

struct Span {
  InstructionId instruction;
  Nanoseconds issue;  // the host reached it
  Nanoseconds ready;  // its waits were done
  Nanoseconds start;
  Nanoseconds end;
  bool skipped = false;  // its guard was false

  friend bool operator==(const Span&, const Span&) = default;
};

using BytesByClass = std::array<Bytes, k_buffer_classes>;  // by BufferClass
using BytesBySpace = std::array<Bytes, k_memory_spaces>;   // by MemorySpace

// What memory of the device is in use around an instruction. The last two fields are about the other spaces;
// their entry for the device is zero.
struct MemorySample {
  InstructionId instruction;
  Bytes live;                       // after the instruction
  Bytes peak;                       // highest while it was issued and ran on the host
  BytesByClass by_class{};          // of `live`
  BytesByClass by_class_at_peak{};  // of `peak`
  BytesBySpace elsewhere{};         // after the instruction
  BytesBySpace peak_elsewhere{};    // of each space the highest while it was issued and ran

  friend bool operator==(const MemorySample&, const MemorySample&) = default;
};

// What a rank sent to others in a step through one kind of collective of groups of one size, counted where it
// is sent.
struct SentInStep {
  InstructionKind kind = InstructionKind::AllGather;
  int group_size = 1;
  std::int64_t operations = 0;
  Bytes bytes;

  friend bool operator==(const SentInStep&, const SentInStep&) = default;
};

struct RankTrace {
  int rank = 0;
  Nanoseconds start_offset;          // of this rank's step start from the earliest rank's
  Nanoseconds duration;              // first issue to last end
  std::vector<Span> spans;           // by instruction, in issue order
  std::vector<MemorySample> memory;  // by instruction, in issue order; empty when memory was not measured
  std::vector<SentInStep>
      sent;  // empty when it was not counted; a store keeps its sum in the run's summary alone
  std::optional<double> loss;           // mean over the rank's tokens
  std::optional<double> gradient_norm;  // before clipping, over all ranks

  friend bool operator==(const RankTrace&, const RankTrace&) = default;
};

struct StepTrace {
  std::string plan_hash;
  std::int64_t step = 0;
  std::vector<RankTrace> ranks;  // by rank; a prediction holds one that stands for all, or all

  friend bool operator==(const StepTrace&, const StepTrace&) = default;
};

enum class RunKind : std::uint8_t { predicted, measured };
template <>
inline constexpr auto k_words<RunKind> = std::to_array<Word<RunKind>>({{RunKind::predicted, "predicted"},
                                                                       {RunKind::measured, "measured"}});

// Where a run's numbers come from.
struct Provenance {
  RunKind kind = RunKind::predicted;
  bool calibrated = false;
  std::string calibration;                      // id of the calibration used
  std::string machine;                          // processor or GPU model, and how many
  std::map<std::string, std::string> versions;  // shardlab, torch, compiler, kernel
  std::vector<std::string> assumes;             // what a prediction takes for given
  std::vector<std::string> leaves_out;          // what the numbers do not contain
};

struct RunTrace {
  Provenance provenance;
  std::vector<StepTrace> steps;        // the measured ones; warm-up dropped
  std::vector<double> losses;          // every step from the first, mean over ranks
  std::vector<double> gradient_norms;  // every step from the first; empty without clipping
  std::vector<StepTrace> warmup;       // kept for inspection
  std::optional<DeviceMemory>
      device_memory;                    // highest of the ranks, field by field; absent where there was no GPU
  std::vector<OperatorTime> operators;  // with measure.detail: operators; by name, forward first
  std::optional<FitEstimate> fit;       // of a prediction for GPUs
  std::vector<PhaseMemory> life;        // of a prediction for GPUs, kept like the next
  std::vector<MemoryOverhead> overheads;  // of a prediction for GPUs; a store keeps the run's summary of them

  // Out of line: many hand it on, and few look into all of it.
  RunTrace();
  RunTrace(const RunTrace&);
  RunTrace(RunTrace&&) noexcept;
  RunTrace& operator=(const RunTrace&);
  RunTrace& operator=(RunTrace&&) noexcept;
  ~RunTrace();
};

}  // namespace shardlab
