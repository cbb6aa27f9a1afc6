#include "gui/widgets/data_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "gui/widgets/named_area.h"
#include "gui/widgets/table_view.h"

namespace shardlab::gui {
namespace {

constexpr float k_widest = 460;  // of a column at first; wider texts are cut and shown when pointed at
constexpr std::size_t k_measured = 200;  // rows looked at for the widths

void measure(const view::DataTable& table, DataGridState& state, const Theme& theme) {
  state.widths.assign(table.columns.size(), 0);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    float width = ImGui::CalcTextSize(table.columns[i].title.c_str()).x + theme.scaled(22);
    for (std::size_t row = 0; row < std::min(table.rows.size(), k_measured); ++row) {
      if (i < table.rows[row].cells.size())
        width = std::max(width, ImGui::CalcTextSize(table.rows[row].cells[i].text.c_str()).x);
    }
    state.widths[i] = std::min(width / theme.scale + 4, k_widest);
  }
}

void declare_columns(const view::DataTable& table, const DataGridState& state, const Theme& theme) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const view::Column& column = table.columns[i];
    // The last column of texts takes what is left.
    const bool last = i + 1 == table.columns.size() && !column.numeric;
    ImGui::TableSetupColumn(column.title.c_str(),
                            (last ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed) |
                                (column.numeric ? ImGuiTableColumnFlags_PreferSortDescending : 0),
                            last ? 1.0F : theme.scaled(state.widths[i]));
  }
}

// Titles stand above their numbers: at the right.
void draw_headers(const view::DataTable& table) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    const char* const title = table.columns[i].title.c_str();
    // Dear ImGui cuts a title that leaves no place for the arrow of a sorted column.
    const float arrow = ImGui::GetFontSize() * 0.65F + ImGui::GetStyle().FramePadding.x;
    const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(title).x - arrow;
    if (table.columns[i].numeric && room > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
    ImGui::TableHeader(title);
    name_last_item(title);
  }
}

void sort_if_asked(const view::DataTable& table, DataGridState& state, bool changed) {
  ImGuiTableSortSpecs* const specs = ImGui::TableGetSortSpecs();
  const bool dirty = specs != nullptr && specs->SpecsDirty;
  if (dirty) {
    state.sorted_column = specs->SpecsCount > 0 ? specs->Specs[0].ColumnIndex : -1;
    state.descending =
        specs->SpecsCount > 0 && specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
    specs->SpecsDirty = false;
  }
  if (!dirty && !changed) return;
  const auto column =
      state.sorted_column < 0 ? table.columns.size() : static_cast<std::size_t>(state.sorted_column);
  state.order = sorted_rows(table, column, state.descending);
}

void draw_cell(const view::Cell& cell, bool numeric, const Theme& theme) {
  const float room = ImGui::GetContentRegionAvail().x, width = ImGui::CalcTextSize(cell.text.c_str()).x;
  if (numeric && room > width) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
  ImGui::PushStyleColor(ImGuiCol_Text, colour_of(theme, cell.tone));
  ImGui::TextUnformatted(cell.text.c_str());
  ImGui::PopStyleColor();
  if (width > room + 1 && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", cell.text.c_str());
}

// True when it was clicked.
bool draw_row(const view::DataTable& table, std::size_t index, const DataGridOptions& options,
              const Theme& theme) {
  const view::Row& row = table.rows[index];
  ImGui::TableNextRow();
  bool clicked = false;
  for (std::size_t i = 0; i < table.columns.size() && i < row.cells.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i)) && i > 0) continue;
    if (i == 0) {
      // The selectable spans the row; its label is the first cell's, so that tests find rows by name.
      const float x = ImGui::GetCursorPosX();
      clicked =
          ImGui::Selectable(fmt::format("##{}", row.cells[0].text + "#" + std::to_string(index)).c_str(),
                            options.is_chosen && options.is_chosen(row),
                            ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap);
      ImGui::SameLine();
      ImGui::SetCursorPosX(x);
    }
    draw_cell(row.cells[i], table.columns[i].numeric, theme);
  }
  return clicked;
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

}  // namespace

std::optional<GridClick> data_grid(const char* id, const view::DataTable& table, DataGridState& state,
                                   const DataGridOptions& options, const Theme& theme) {
  const bool changed = state.revision != options.revision || state.order.size() != table.rows.size() ||
                       state.widths.size() != table.columns.size();
  if (changed) measure(table, state, theme);
  state.revision = options.revision;
  if (table.columns.empty()) return std::nullopt;
  constexpr ImGuiTableFlags k_flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate |
                                      ImGuiTableFlags_Resizable | ImGuiTableFlags_RowBg |
                                      ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                      ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_BordersOuterH;
  if (!ImGui::BeginTable(id, static_cast<int>(table.columns.size()), k_flags, options.size))
    return std::nullopt;
  declare_columns(table, state, theme);
  ImGui::TableSetupScrollFreeze(0, 1);
  draw_headers(table);
  sort_if_asked(table, state, changed);
  scroll_if_asked(state);
  std::optional<GridClick> click;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(state.order.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const std::size_t index = state.order[static_cast<std::size_t>(i)];
      if (draw_row(table, index, options, theme)) click = GridClick{index, ImGui::GetIO().KeyCtrl};
    }
  }
  ImGui::EndTable();
  return click;
}

void copy_csv_button(const char* id, const view::DataTable& table) {
  ImGui::PushID(id);
  if (ImGui::SmallButton("Copy CSV")) ImGui::SetClipboardText(to_csv(table).c_str());
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("Copies %zu rows of '%s'", table.rows.size(), table.name.c_str());
  ImGui::PopID();
}

}  // namespace shardlab::gui
