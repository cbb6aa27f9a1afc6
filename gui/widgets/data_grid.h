// A view::DataTable as every panel draws it: sorts by a clicked heading, says why a number is what it is
// (right click or ?), copies as CSV, tells which row was chosen, scrolls to what is chosen elsewhere. Draws
// only the rows that are visible; cut texts are shown when pointed at.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gui/view_model/data_table.h"
#include "gui/widgets/theme.h"
#include "gui/widgets/why_popup.h"

namespace shardlab::gui {

// Belongs to the panel that shows the table.
struct DataGridState {
  std::vector<std::size_t> order;  // of the rows that are shown
  std::vector<float> widths;       // of columns, before scaling; they only grow
  int layout = 0;                  // counts how often they grew: then the user's own widths are forgotten
  std::uint64_t revision = ~0ULL;  // of the table that order and widths are of
  int sorted_column = -1;          // -1: the table's own order
  bool descending = false;
  std::optional<std::size_t> scroll_to;  // a row to bring into view, once
  WhyPopup why;
};

struct DataGridOptions {
  std::uint64_t revision = 0;                         // grows whenever the table, or `only`, is another one
  ImVec2 size{0, 0};                                  // as of ImGui::BeginTable
  std::function<bool(const view::Row&)> is_chosen{};  // may be empty
  // A square before the first cell, as in the plot that the table belongs to; empty: none.
  std::function<ImU32(const view::Row&)> swatch{};
  std::size_t swatch_column = 0;
  // The column that takes the space that is left, when there is any. Absent: the last one, if it is of texts.
  std::optional<std::size_t> stretched{};
  const std::vector<std::uint32_t>* only = nullptr;  // rows to be shown, ascending; null: all
  std::size_t columns = SIZE_MAX;                    // so many of the first are shown
};

struct GridClick {
  std::size_t row = 0;  // of the table
  bool add = false;     // with Ctrl: to what is chosen already
};

struct GridEvents {
  std::optional<GridClick> click;
  WhyAnswer answer;  // of the pop-up that says why
};

// What happened to the table in this frame.
GridEvents data_grid(const char* id, const view::DataTable& table, DataGridState& state,
                     const DataGridOptions& options, const Theme& theme);

// The height of so many rows and the heading.
float grid_height(std::size_t rows);

// A small button that copies the table; what was copied stays in the clipboard.
void copy_csv_button(const char* id, const view::DataTable& table);

}  // namespace shardlab::gui
