// RunSummary: the figures of a run that people compare, computed from its plan and traces
// (report/summarize.h).
//
// A plain value that the store keeps, tables show and `--json` prints. What is unknown is absent, never zero.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "engine/model/choices.h"
#include "engine/plan/instruction.h"
#include "engine/plan/transfers.h"
#include "engine/trace/alternative.h"
#include "engine/trace/fit.h"
#include "engine/trace/life_phase.h"
#include "engine/trace/memory_overhead.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// Over the steps of a run: the median of an even number of steps is the mean of the middle two.
struct StepTimeSummary {
  Nanoseconds median;
  Nanoseconds min;
  Nanoseconds max;
  int n = 0;  // steps

  friend bool operator==(const StepTimeSummary&, const StepTimeSummary&) = default;
};

// What one rank does through one kind of collective in one step; bytes are the full side of each collective.
// `sent` is what all ranks put on the wire for it by the plan (plan/sent_bytes.h), `counted` what the
// communicators of a real run counted.
struct CommunicationTotal {
  InstructionKind kind = InstructionKind::AllGather;
  int group_size = 1;
  std::int64_t count = 0;
  Bytes bytes;
  Bytes sent = {};
  std::optional<Bytes> counted = {};

  friend bool operator==(const CommunicationTotal&, const CommunicationTotal&) = default;
};

// Elements of parameters and gradients that a rank sends in a step, divided by the elements of the model; and
// what that tends to with many ranks, where a rule is known.
struct CommunicationVolume {
  double sent = 0;
  std::optional<double> limit;

  friend bool operator==(const CommunicationVolume&, const CommunicationVolume&) = default;
};

enum class StepPhase : std::uint8_t { forward, backward, optimizer };
template <>
inline constexpr auto k_words<StepPhase> = std::to_array<Word<StepPhase>>({{StepPhase::forward, "forward"},
                                                                           {StepPhase::backward, "backward"},
                                                                           {StepPhase::optimizer,
                                                                            "optimizer"}});
inline constexpr std::size_t k_step_phases = k_words<StepPhase>.size();

// What the teacher of a distillation holds.
struct TeacherMemory {
  Bytes parameters;  // as stored
  Bytes gathered;    // with the buffers of gathers
  Bytes logits;      // that the student's backward still reads

  friend bool operator==(const TeacherMemory&, const TeacherMemory&) = default;
};

// What a rank holds in one memory space.
struct SpaceMemory {
  MemorySpace space = MemorySpace::device;
  Bytes between;  // alive when a steady step begins, of the plan's buffers
  Bytes peak;     // of the rank with the highest, over all steps

  friend bool operator==(const SpaceMemory&, const SpaceMemory&) = default;
};

struct MemorySummary {
  Bytes peak_allocated;  // of the rank with the highest, over all steps; 0 where a log does not tell it
  std::optional<Bytes> peak_active;  // a caching allocator's figures; absent on CPUs
  std::optional<Bytes> peak_reserved;
  std::optional<Bytes> peak_device;
  std::optional<std::int64_t> allocator_retries;
  std::optional<Bytes> device_low, device_high;  // 80 % band of peak_device; of predictions
  BytesByClass by_class{};                       // what peak_allocated is made of
  InstructionId peak_instruction;                // in the plan of the steady step
  std::string peak_label;                        // empty: nobody knows where it is
  int peak_rank = 0;                             // -1: not known
  std::int64_t peak_step = 0;
  std::array<Bytes, k_step_phases> phases{};  // the highest within each phase, by StepPhase
  std::vector<SpaceMemory> spaces = {};       // the device, and others that hold anything
  std::optional<TeacherMemory> teacher =
      {};                              // of the plan's buffers at the peak; absent without a distillation
  std::vector<PhaseMemory> life = {};  // of predictions for GPUs
  std::vector<MemoryOverhead> overheads = {};  // beside the tensors; of predictions for GPUs

  friend bool operator==(const MemorySummary&, const MemorySummary&) = default;
};

// A time that nobody knows, where 0 is one that may be known: what is negative is unknown.
inline constexpr Nanoseconds k_unknown_time{-1};

struct RunSummary {
  RunKind kind = RunKind::predicted;
  std::string plan_hash;  // of the steady step
  int ranks = 1;          // 0 where a log does not tell them
  StepTimeSummary step_time;
  double tokens_per_second = 0;
  double tokens_per_second_per_gpu = 0;
  std::optional<double> mfu;          // absent where no peak rate is known
  std::optional<double> mfu_palm;     // absent there and where a part of the model is frozen
  Nanoseconds exposed_communication;  // mean over ranks, median over steps; k_unknown_time for logs
  std::vector<CommunicationTotal> communication;
  std::vector<TransferTotal> transfers;       // empty where everything stays on the device
  std::optional<CommunicationVolume> volume;  // absent where nothing is communicated
  std::int64_t skipped_steps = 0;  // of all steps: a gradient was not finite under a scaled loss; -1: unknown
  std::optional<MemorySummary> memory;    // absent when the run recorded none
  std::optional<Bytes> memory_limit;      // what a rank may use, when known
  std::optional<Fit> fits;                // peak against memory_limit
  std::optional<double> fit_probability;  // of a prediction for a device of known memory
  std::optional<std::string> fit_reason;  // of a prediction that does not fit, or just so
  std::optional<Bytes> fit_margin;  // what libraries may take beyond the prediction; absent when measured
  std::optional<Implementation> implementation;  // whose operators; absent for imported runs
  std::optional<CompileScope> compiled;          // what torch.compile covers; absent where that is nothing
  std::optional<std::string> ended_by;           // absent unless the run could not be finished: what ended it
  std::vector<OperatorTime> operators;           // empty where they were not asked for
  std::vector<double> losses;                    // every step from the first, or fewer:
  std::int64_t steps_per_loss = 1;               // from one of them to the next, usually; 0: not known
  std::vector<double> gradient_norms;
  bool calibrated = false;
  std::vector<std::string> assumes;
  std::vector<std::string> leaves_out;
  std::vector<Alternative> alternatives;  // of a prediction, where somebody asked for them

  friend bool operator==(const RunSummary&, const RunSummary&) = default;
};

}  // namespace shardlab
