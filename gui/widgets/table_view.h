// Draws a view::DataTable: sorts by a clicked heading, copies as CSV, tells which row was chosen. Draws only
// the rows that are visible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gui/view_model/data_table.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

struct TableLook {
  float height = 0;  // 0: what is left; less than 0: that less than what is left; see ImGui::BeginTable
  std::size_t stretched = 0;  // the column that takes the space that is left
  bool sortable = true;
  // A square before the first cell, as in the plot that the table belongs to; empty: none.
  std::function<ImU32(const view::Row&)> swatch{};
};

class TableView {
 public:
  // Marks rows for which `chosen` is true and returns the position of the row clicked in this frame. `table`
  // may be another one each frame; the order is found anew when it has another address, size or `version`.
  template <typename IsChosen>
  std::optional<std::size_t> draw(const char* label, const view::DataTable& table, const Theme& theme,
                                  const TableLook& look, IsChosen is_chosen, std::uint64_t version = 0) {
    chosen_rows_.clear();
    for (const view::Row& row : table.rows) chosen_rows_.push_back(is_chosen(row));
    return draw_rows(label, table, theme, look, version);
  }
  std::optional<std::size_t> draw(const char* label, const view::DataTable& table, const Theme& theme,
                                  const TableLook& look = {}, std::uint64_t version = 0) {
    return draw(
        label, table, theme, look, [](const view::Row&) { return false; }, version);
  }

 private:
  std::optional<std::size_t> draw_rows(const char* label, const view::DataTable& table, const Theme& theme,
                                       const TableLook& look, std::uint64_t version);
  void sort(const view::DataTable& table, bool sortable, std::uint64_t version);

  std::vector<bool> chosen_rows_;
  std::vector<std::size_t> order_;
  const view::DataTable* ordered_table_ = nullptr;
  std::uint64_t ordered_version_ = 0;
};

ImU32 colour_of(const Theme& theme, view::CellTone tone);

}  // namespace shardlab::gui
