#include "gui/widgets/table_view.h"

#include <numeric>

namespace shardlab::gui {
namespace {

void draw_right_aligned(const char* text, bool right) {
  if (right) {
    const float space = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text).x;
    if (space > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + space);
  }
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

void set_up_columns(const view::DataTable& table, const TableLook& look, const Theme& theme) {
  ImGui::TableSetupScrollFreeze(0, 1);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const view::Column& column = table.columns[i];
    const bool stretched = i == look.stretched;
    ImGuiTableColumnFlags flags =
        stretched ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed;
    if (column.numeric) flags |= ImGuiTableColumnFlags_PreferSortDescending;
    if (!look.sortable) flags |= ImGuiTableColumnFlags_NoSort;
    // A heading is never cut: Dear ImGui makes a fixed column as wide as its content, the heading's arrow
    // included.
    (void)theme;
    ImGui::TableSetupColumn(column.title.c_str(), flags);
  }
}

void draw_headings(const view::DataTable& table) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    ImGui::TableHeader(table.columns[i].title.c_str());
  }
}

void copy_menu(const char* label, const view::DataTable& table) {
  ImGui::PushID(label);
  if (ImGui::BeginPopup("table menu")) {
    if (ImGui::MenuItem("Copy as CSV")) ImGui::SetClipboardText(view::to_csv(table).c_str());
    ImGui::EndPopup();
  }
  ImGui::PopID();
}

}  // namespace

ImU32 colour_of(const Theme& theme, view::CellTone tone) {
  switch (tone) {
    case view::CellTone::good:
      return theme.good;
    case view::CellTone::fair:
      return theme.fair;
    case view::CellTone::bad:
      return theme.bad;
    case view::CellTone::faint:
      return theme.dimmed;
    case view::CellTone::plain:
      break;
  }
  return theme.text;
}

void TableView::sort(const view::DataTable& table, bool sortable, std::uint64_t version) {
  ImGuiTableSortSpecs* const specs = sortable ? ImGui::TableGetSortSpecs() : nullptr;
  const bool same =
      ordered_table_ == &table && ordered_version_ == version && order_.size() == table.rows.size();
  if (same && (specs == nullptr || !specs->SpecsDirty)) return;
  if (specs != nullptr && specs->SpecsCount > 0) {
    const ImGuiTableColumnSortSpecs& first = specs->Specs[0];
    order_ = view::sorted_rows(table, static_cast<std::size_t>(first.ColumnIndex),
                               first.SortDirection == ImGuiSortDirection_Descending);
  } else {
    order_.resize(table.rows.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }
  if (specs != nullptr) specs->SpecsDirty = false;
  ordered_table_ = &table;
  ordered_version_ = version;
}

std::optional<std::size_t> TableView::draw_rows(const char* label, const view::DataTable& table,
                                                const Theme& theme, const TableLook& look,
                                                std::uint64_t version) {
  std::optional<std::size_t> clicked;
  const int columns = static_cast<int>(table.columns.size());
  ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                          ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingFixedFit |
                          ImGuiTableFlags_PadOuterX | ImGuiTableFlags_NoBordersInBody;
  if (look.sortable) flags |= ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate;
  if (columns == 0 || !ImGui::BeginTable(label, columns, flags, {0, look.height})) return clicked;
  set_up_columns(table, look, theme);
  draw_headings(table);
  sort(table, look.sortable, version);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(order_.size()));
  while (clipper.Step()) {
    for (int line = clipper.DisplayStart; line < clipper.DisplayEnd; ++line) {
      const std::size_t at = order_[static_cast<std::size_t>(line)];
      const view::Row& row = table.rows[at];
      ImGui::TableNextRow();
      ImGui::PushID(static_cast<int>(at));
      for (std::size_t i = 0; i < row.cells.size() && i < table.columns.size(); ++i) {
        if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
        const view::Cell& cell = row.cells[i];
        ImGui::PushStyleColor(ImGuiCol_Text, colour_of(theme, cell.tone));
        if (i == 0) {
          if (look.swatch) draw_swatch(look.swatch(row), theme);
          const ImGuiSelectableFlags spans =
              ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap;
          if (ImGui::Selectable(cell.text.c_str(), chosen_rows_[at], spans)) clicked = at;
          ImGui::OpenPopupOnItemClick("row menu", ImGuiPopupFlags_MouseButtonRight);
        } else {
          draw_right_aligned(cell.text.c_str(), table.columns[i].numeric);
          ImGui::TextUnformatted(cell.text.c_str());
        }
        ImGui::PopStyleColor();
      }
      if (ImGui::BeginPopup("row menu")) {
        if (ImGui::MenuItem("Copy as CSV")) ImGui::SetClipboardText(view::to_csv(table).c_str());
        ImGui::EndPopup();
      }
      ImGui::PopID();
    }
  }
  const bool menu = ImGui::TableGetHoveredColumn() >= 0 && ImGui::IsMouseReleased(ImGuiMouseButton_Right) &&
                    !ImGui::IsAnyItemHovered();
  ImGui::EndTable();
  ImGui::PushID(label);
  if (menu) ImGui::OpenPopup("table menu");
  ImGui::PopID();
  copy_menu(label, table);
  return clicked;
}

}  // namespace shardlab::gui
