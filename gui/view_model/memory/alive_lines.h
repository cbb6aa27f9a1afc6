// What is alive at a moment, line by line, before it is a table. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/report/words/alive_at_peak.h"
#include "gui/view_model/memory/alive_table.h"

namespace shardlab::view {

// A line of either form: sums of a kind, or a single buffer.
struct AliveLine {
  AliveRow alive;
  std::string name = {};   // of a single buffer in the plan's text
  std::string until = {};  // of a single buffer
};

// Whether that is the moment of the peak: without an instruction, or at that in which memory is highest. What
// is alive after the latter is less.
bool is_alive_at_peak(const LoadedRun& run, std::optional<InstructionId> id);

// The largest first. As alive_table().
std::vector<AliveLine> alive_lines(const LoadedRun& run, const std::vector<BufferLife>& lives,
                                   std::optional<InstructionId> id, AliveForm form);

}  // namespace shardlab::view
