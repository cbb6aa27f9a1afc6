// What a run's plan holds in memory at one moment, in words.
#pragma once

#include <cstdint>
#include <optional>

#include "gui/view_model/data_table.h"
#include "gui/view_model/loaded_run.h"
#include "gui/view_model/memory/buffer_lives.h"

namespace shardlab::view {

enum class AliveForm : std::uint8_t {
  added_up,  // alike buffers of several layers or micro-batches are one row
  single,    // a row a buffer
};

// After the instruction; without one, or of the one in which memory is highest, at the run's peak, whose rows
// on the device add up to it. The largest first, then for each memory space a row that adds its rows up. The
// space has a column where the plan uses more than the device. `lives` are those of the run's plan.
DataTable alive_table(const LoadedRunPtr& run, const std::vector<BufferLife>& lives,
                      std::optional<InstructionId> id, AliveForm form);

}  // namespace shardlab::view
