#include "gui/widgets/grid_columns.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "gui/widgets/named_area.h"
#include "gui/widgets/word_link.h"

namespace shardlab::gui {
namespace {

constexpr float k_widest = 460;  // of a column at first; wider texts are cut and shown when pointed at
constexpr std::size_t k_measured = 200;  // rows looked at for the widths
constexpr float k_swatch = 16;

bool is_stretched(const view::DataTable& table, const DataGridOptions& options, std::size_t column) {
  if (options.stretched) return column == *options.stretched;
  return column + 1 == table.columns.size() && !table.columns[column].numeric;
}

// For the arrow of a sorted column, which every heading keeps free.
float arrow_room() {
  return ImGui::GetFontSize() * 0.65F + ImGui::GetStyle().FramePadding.x;
}

// A long heading above numbers takes several lines: it must not push the next column out of sight.
std::vector<std::string> heading_lines(const view::Column& column) {
  if (!column.numeric) return {column.title};
  const float most = ImGui::GetFontSize() * 11;
  std::vector<std::string> lines(1);
  std::istringstream words(column.title);
  for (std::string word; words >> word;) {
    const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
    if (!lines.back().empty() && ImGui::CalcTextSize(longer.c_str()).x > most)
      lines.push_back(word);
    else
      lines.back() = longer;
  }
  return lines;
}

float heading_width(const view::Column& column) {
  float width = 0;
  for (const std::string& line : heading_lines(column))
    width = std::max(width, ImGui::CalcTextSize(line.c_str()).x);
  return width;
}

}  // namespace

void measure_columns(const view::DataTable& table, const DataGridOptions& options, DataGridState& state,
                     const Theme& theme) {
  const bool other_columns = state.widths.size() != table.columns.size();
  if (other_columns) state.widths.assign(table.columns.size(), 0);
  bool grew = other_columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    float width = heading_width(table.columns[i]) + arrow_room();
    for (std::size_t row = 0; row < std::min(table.rows.size(), k_measured); ++row) {
      if (i < table.rows[row].cells.size())
        width = std::max(width, ImGui::CalcTextSize(table.rows[row].cells[i].text.c_str()).x);
    }
    if (options.swatch && i == options.swatch_column) width += theme.scaled(k_swatch);
    const float wanted = std::min(width / theme.scale + 4, k_widest);
    grew = grew || wanted > state.widths[i] + 1;
    state.widths[i] = std::max(wanted, state.widths[i]);
  }
  if (grew) ++state.layout;
}

bool has_room(const DataGridOptions& options, const DataGridState& state, float room, const Theme& theme) {
  float needed = 0;
  for (std::size_t i = 0; i < std::min(state.widths.size(), options.columns); ++i)
    needed += theme.scaled(state.widths[i]) + 2 * ImGui::GetStyle().CellPadding.x;
  return needed <= room;
}

void declare_columns(const view::DataTable& table, const DataGridOptions& options, const DataGridState& state,
                     bool room, const Theme& theme) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const view::Column& column = table.columns[i];
    const bool stretched = is_stretched(table, options, i) && (room || !options.stretched);
    ImGui::TableSetupColumn(
        column.title.c_str(),
        (stretched ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed) |
            (column.numeric ? ImGuiTableColumnFlags_PreferSortDescending : 0) |
            (i < options.columns ? 0 : ImGuiTableColumnFlags_Disabled),
        stretched ? 1.0F : theme.scaled(state.widths[i]));
  }
}

namespace {

// Dear ImGui writes headings from the left and always leaves room for the arrow of a sorted column: above
// numbers the title is drawn by hand, and makes room only where there is an arrow.
void draw_number_heading(const view::Column& column, bool is_sorted) {
  ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x - (is_sorted ? arrow_room() : 0);
  ImGui::PushID(column.title.c_str());
  ImGui::TableHeader("##heading");
  ImGui::PopID();
  for (const std::string& line : heading_lines(column)) {
    const float width = ImGui::CalcTextSize(line.c_str()).x;
    ImGui::GetWindowDrawList()->AddText({at.x + std::max(0.0F, room - width), at.y},
                                        ImGui::GetColorU32(ImGuiCol_Text), line.c_str());
    at.y += ImGui::GetTextLineHeight();
  }
}

float heading_height(const view::DataTable& table) {
  std::size_t lines = 1;
  for (const view::Column& column : table.columns) lines = std::max(lines, heading_lines(column).size());
  return static_cast<float>(lines) * ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
}

}  // namespace

void draw_headings(const view::DataTable& table, const Theme& theme) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers, heading_height(table));
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    const char* const title = table.columns[i].title.c_str();
    const bool is_sorted = (ImGui::TableGetColumnFlags() & ImGuiTableColumnFlags_IsSorted) != 0;
    if (table.columns[i].numeric)
      draw_number_heading(table.columns[i], is_sorted);
    else
      ImGui::TableHeader(title);
    name_last_item(title);
    word_tip(table.columns[i].title, table.columns[i].meaning.formula, theme);
  }
}

void sort_rows(const view::DataTable& table, const DataGridOptions& options, DataGridState& state,
               bool changed) {
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
  if (options.only == nullptr) return;
  const std::vector<std::uint32_t>& only = *options.only;
  std::erase_if(state.order, [&](std::size_t row) {
    return !std::binary_search(only.begin(), only.end(), static_cast<std::uint32_t>(row));
  });
}

}  // namespace shardlab::gui
