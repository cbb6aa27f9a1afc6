// Does it fit? The highest memory of a step against what a rank may use, by class and phase.
#pragma once

#include <array>
#include <optional>
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
};

struct FitView {
  Bytes peak;
  std::optional<Bytes> capacity;
  std::optional<Fit> fits;
  std::optional<Bytes> margin;  // may be needed beside the peak
  InstructionId peak_instruction;
  std::string peak_label;
  std::vector<BufferClass> classes;  // that hold anything at any of the peaks, the largest at the peak first
  BytesByClass by_class{};           // at the peak
  std::array<PhasePeak, k_step_phases> phases;
};

// The view of the first rank in the typical step; none when the run recorded no memory.
std::optional<FitView> make_fit_view(const LoadedRun& run);

// A row a class, the largest first, with its bytes at the peak and, `with_phases`, at each phase's peak; then
// a row of totals. Row::key is the class, -1 for the totals.
DataTable fit_table(const FitView& view, bool with_phases);

}  // namespace shardlab::view
