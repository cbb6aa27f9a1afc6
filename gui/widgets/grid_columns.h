// Columns of a data grid: how wide, in which order their rows, their headings. Private to data_grid.
#pragma once

#include "gui/widgets/data_grid.h"

namespace shardlab::gui {

void measure_columns(const view::DataTable& table, const DataGridOptions& options, DataGridState& state,
                     const Theme& theme);
// Whether all columns have the width they need, side by side.
bool has_room(const DataGridOptions& options, const DataGridState& state, float room, const Theme& theme);
// A column that stretches is never narrower than its content: without room the table scrolls sideways.
void declare_columns(const view::DataTable& table, const DataGridOptions& options, const DataGridState& state,
                     bool room, const Theme& theme);
// Titles stand above their numbers: at the right.
void draw_headings(const view::DataTable& table, const Theme& theme);
// `changed`: the table is another one than in the frame before.
void sort_rows(const view::DataTable& table, const DataGridOptions& options, DataGridState& state,
               bool changed);

}  // namespace shardlab::gui
