#include "gui/widgets/data_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "gui/widgets/grid_columns.h"
#include "gui/widgets/named_area.h"
#include "gui/widgets/word_link.h"

namespace shardlab::gui {
namespace {

ImU32 colour_of(const Theme& theme, view::CellTone tone) {
  switch (tone) {
    case view::CellTone::good: return theme.good;
    case view::CellTone::fair: return theme.fair;
    case view::CellTone::bad: return theme.bad;
    case view::CellTone::faint: return theme.dimmed;
    case view::CellTone::plain: break;
  }
  return theme.text;
}

void draw_swatch(ImU32 colour, const Theme& theme) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = theme.scaled(9);
  const float top = at.y + (ImGui::GetTextLineHeight() - size) / 2;
  if (colour != 0)
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + size, top + size},
                                              faded(colour, ImGui::GetStyle().Alpha), theme.scaled(2));
  ImGui::SetCursorScreenPos({at.x + size + theme.scaled(6), at.y});
}

void draw_cell(const view::Cell& cell, bool numeric, const Theme& theme) {
  const float room = ImGui::GetContentRegionAvail().x, width = ImGui::CalcTextSize(cell.text.c_str()).x;
  if (numeric && room > width) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
  ImGui::PushStyleColor(ImGuiCol_Text, colour_of(theme, cell.tone));
  ImGui::TextUnformatted(cell.text.c_str());
  ImGui::PopStyleColor();
  if (!numeric) word_under_mouse(cell.text, theme);
  if (width > room + 1 && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", cell.text.c_str());
}

// What one row told in this frame.
struct RowEvents {
  bool clicked = false;
  std::optional<int> asked;  // the column whose number is asked about; -1: none of them
};

// The selectable spans the row; tests find it by its first cell.
RowEvents draw_row_behind(const view::Row& row, bool chosen) {
  RowEvents events;
  const float x = ImGui::GetCursorPosX();
  events.clicked = ImGui::Selectable("##row", chosen,
                                     ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap);
  name_last_item(row.cells[0].text.c_str());
  if (ImGui::IsItemHovered() && is_why_asked()) events.asked = ImGui::TableGetHoveredColumn();
  ImGui::SameLine();
  ImGui::SetCursorPosX(x);
  return events;
}

RowEvents draw_row(const view::DataTable& table, std::size_t index, const DataGridOptions& options,
                   const Theme& theme) {
  const view::Row& row = table.rows[index];
  RowEvents events;
  ImGui::TableNextRow();
  ImGui::PushID(static_cast<int>(index));
  for (std::size_t i = 0; i < table.columns.size() && i < row.cells.size(); ++i) {
    // The first one holds the row's selectable, seen or not.
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i)) && i > 0) continue;
    if (i == 0) events = draw_row_behind(row, options.is_chosen && options.is_chosen(row));
    if (options.swatch && i == options.swatch_column) draw_swatch(options.swatch(row), theme);
    draw_cell(row.cells[i], table.columns[i].numeric, theme);
  }
  ImGui::PopID();
  return events;
}

void scroll_if_asked(DataGridState& state) {
  if (!state.scroll_to) return;
  const auto place = std::find(state.order.begin(), state.order.end(), *state.scroll_to);
  state.scroll_to.reset();
  if (place == state.order.end()) return;
  const float row = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  const float top = static_cast<float>(place - state.order.begin()) * row;
  if (top < ImGui::GetScrollY() || top > ImGui::GetScrollY() + ImGui::GetWindowHeight() - 3 * row)
    ImGui::SetScrollY(std::max(0.0F, top - ImGui::GetWindowHeight() / 3));
}

GridEvents draw_rows(const view::DataTable& table, DataGridState& state, const DataGridOptions& options,
                     const Theme& theme) {
  GridEvents events;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(state.order.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const std::size_t index = state.order[static_cast<std::size_t>(i)];
      const RowEvents row = draw_row(table, index, options, theme);
      if (row.clicked) events.click = GridClick{index, ImGui::GetIO().KeyCtrl};
      if (row.asked)
        state.why.ask(*row.asked < 0 ? std::nullopt
                                     : why_cell(table, index, static_cast<std::size_t>(*row.asked)));
    }
  }
  return events;
}

}  // namespace

GridEvents data_grid(const char* id, const view::DataTable& table, DataGridState& state,
                     const DataGridOptions& options, const Theme& theme) {
  const bool changed = state.revision != options.revision || state.widths.size() != table.columns.size() ||
                       (options.only == nullptr && state.order.size() != table.rows.size());
  if (changed) measure_columns(table, options, state, theme);
  state.revision = options.revision;
  GridEvents events;
  if (table.columns.empty()) return events;
  constexpr ImGuiTableFlags k_flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate |
                                      ImGuiTableFlags_Resizable | ImGuiTableFlags_RowBg |
                                      ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                      ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_BordersOuterH |
                                      ImGuiTableFlags_NoBordersInBody | ImGuiTableFlags_PadOuterX;
  ImGui::PushID(id);
  const float width = options.size.x > 0 ? options.size.x : ImGui::GetContentRegionAvail().x;
  const bool room = has_room(options, state, width - ImGui::GetStyle().ScrollbarSize, theme);
  // Dear ImGui keeps the widths that a table had at first.
  const std::string name = fmt::format("{}##{}{}", id, state.layout, room ? " wide" : "");
  if (ImGui::BeginTable(name.c_str(), static_cast<int>(table.columns.size()), k_flags, options.size)) {
    declare_columns(table, options, state, room, theme);
    ImGui::TableSetupScrollFreeze(0, 1);
    draw_headings(table, theme);
    sort_rows(table, options, state, changed);
    scroll_if_asked(state);
    events = draw_rows(table, state, options, theme);
    ImGui::EndTable();
  }
  events.answer = state.why.draw(theme, &table);
  ImGui::PopID();
  return events;
}

float grid_height(std::size_t rows) {
  const float row = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  return (static_cast<float>(rows) + 1) * row + ImGui::GetStyle().ScrollbarSize * 0.5F;
}

void copy_csv_button(const char* id, const view::DataTable& table) {
  ImGui::PushID(id);
  if (ImGui::SmallButton("Copy CSV")) ImGui::SetClipboardText(to_csv(table).c_str());
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("Copies %zu rows of '%s'", table.rows.size(), table.name.c_str());
  ImGui::PopID();
}

}  // namespace shardlab::gui
