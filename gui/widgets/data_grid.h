// A DataTable drawn where there may be many rows and wide texts: columns as wide as their content, cut texts
// shown when pointed at, several rows chosen with Ctrl, scrolled to what is chosen elsewhere. For short
// tables: table_view.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "gui/view_model/data_table.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Belongs to the panel that shows the table.
struct DataGridState {
  std::vector<std::size_t> order;
  std::vector<float> widths;       // of columns, before scaling
  std::uint64_t revision = ~0ULL;  // of the table that order and widths are of
  int sorted_column = -1;          // -1: the table's own order
  bool descending = false;
  std::optional<std::size_t> scroll_to;  // a row to bring into view, once
};

struct DataGridOptions {
  std::uint64_t revision = 0;                         // grows whenever the table is another one
  ImVec2 size{0, 0};                                  // as of ImGui::BeginTable
  std::function<bool(const view::Row&)> is_chosen{};  // may be empty
};

struct GridClick {
  std::size_t row = 0;  // of the table
  bool add = false;     // with Ctrl: to what is chosen already
};

// The click of this frame, if any.
std::optional<GridClick> data_grid(const char* id, const view::DataTable& table, DataGridState& state,
                                   const DataGridOptions& options, const Theme& theme);

// A small button that copies the table; what was copied stays in the clipboard.
void copy_csv_button(const char* id, const view::DataTable& table);

}  // namespace shardlab::gui
