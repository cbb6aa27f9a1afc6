// Does it fit? What a rank needs at most against what it may use; the live tensors in it by class and phase.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/trace/run_summary.h"
#include "gui/view_model/data_table.h"
#include "gui/view_model/loaded_run.h"

namespace shardlab::view {

// The highest moment of one phase; absent phases (no optimizer in an evaluation) have no instruction.
struct PhasePeak {
  StepPhase phase = StepPhase::forward;
  Bytes bytes;
  BytesByClass by_class{};
  std::optional<InstructionId> instruction;
  std::string words;  // of the instruction
};

// What is needed, in parts: the live tensors by class, then what lies beside them.
struct FitPart {
  std::string name;
  Bytes bytes;
  std::optional<BufferClass> buffer_class;  // of tensors
  std::string note;
};

struct FitView {
  Bytes peak;    // of live tensors
  Bytes needed;  // what is judged: in use on the device where that is known, else the live tensors
  bool on_device = false;
  std::optional<Bytes> low, high;  // 80 % band of what is needed; of predictions
  std::optional<Bytes> capacity;
  std::optional<Fit> fits;
  std::optional<double> probability;  // that steps run; of predictions
  std::string reason;                 // why it does not fit, or may not; may be empty
  std::optional<Bytes> margin;        // may be needed beside it
  InstructionId peak_instruction;
  std::string peak_words, peak_label;  // "backward of the head", "302 Backward s33 mb0"
  std::vector<FitPart> parts;          // add up to `needed`
  std::vector<BufferClass> classes;  // that hold anything at any of the peaks, the largest at the peak first
  BytesByClass by_class{};           // at the peak
  std::array<PhasePeak, k_step_phases> phases;
};

// "26.6 GiB to spare; libraries may take 964 MiB more", "8.0 GiB too much", or why it does not fit although
// there is room; empty where no capacity is known.
std::string spare_words(const FitView& view);
// "steps run with over 99 %, in use 77.0 to 81.2 GiB (80 % of all cases)"; empty where nothing is known.
std::string likelihood_words(const FitView& view);

// The view of the first rank in the typical step; none when the run recorded no memory.
std::optional<FitView> make_fit_view(const LoadedRun& run);

// A row a class, the largest first, with its bytes at the peak and, `with_phases`, at each phase's peak; then
// a row of totals. Row::key is the class, -1 for the totals.
DataTable fit_table(const FitView& view, bool with_phases);

}  // namespace shardlab::view
