// Models: those that ship with the program, their modules and parameters, and taking one into the scenario.
#include "engine/report/figures.h"
#include "gui/shell/follow_why.h"
#include "gui/view_model/latest.h"
#include "gui/view_model/model_list.h"
#include "gui/widgets/data_grid.h"

namespace shardlab::gui {
namespace {

class ModelsPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "models",
            .title = "Models",
            .help = "Models with their modules and parameters",
            .area = DockArea::right,
            .rank = 51,
            .open = true,
            .shortcut = 0};
  }

  bool busy() const override { return list_.busy(); }

  void draw(PanelContext& context) override {
    const view::ModelList* const list = list_.get(view::read_models);
    if (list == nullptr) {
      ImGui::TextDisabled("Reading ...");
      return;
    }
    for (const Error& problem : list->problems)
      ImGui::TextColored(ImColor(context.theme.bad), "%s", to_string(problem).c_str());
    const bool detailed = chosen_.has_value();
    const float height =
        detailed ? std::min(grid_height(list->table.rows.size()), ImGui::GetContentRegionAvail().y * 0.45F)
                 : 0;
    const auto is_chosen = [&](const view::Row& line) {
      return chosen_ == static_cast<std::size_t>(line.key);
    };
    const GridEvents events =
        data_grid("models", list->table, grid_, {.size = {0, height}, .is_chosen = is_chosen, .stretched = 0},
                  context.theme);
    follow_why(events.answer, nullptr, context);
    if (events.click) {
      chosen_ = static_cast<std::size_t>(list->table.rows[events.click->row].key);
      tree_ = view::module_tree(list->graphs[*chosen_]);
    }
    if (detailed) draw_model(list->names[*chosen_], context);
  }

 private:
  void draw_model(const std::string& name, PanelContext& context) {
    ImGui::SeparatorText(name.c_str());
    Session& session = context.session;
    ImGui::BeginDisabled(session.documents_opened() == 0);
    if (ImGui::Button("Use in the scenario")) session.set("model.config", name);
    ImGui::EndDisabled();
    const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                  ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingFixedFit |
                                  ImGuiTableFlags_PadOuterX;
    if (!ImGui::BeginTable("modules", 3, flags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("module", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("class");
    ImGui::TableSetupColumn("parameters", ImGuiTableColumnFlags_WidthFixed, context.theme.scaled(116));
    draw_headings();
    draw_module(tree_, 0);
    ImGui::EndTable();
    follow_why(why_.draw(context.theme), nullptr, context);
  }

  // That of the numbers stands above them, at the right.
  static void draw_headings() {
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int i = 0; i < 3; ++i) {
      ImGui::TableSetColumnIndex(i);
      if (i == 2) to_the_right(ImGui::TableGetColumnName(i));
      ImGui::TableHeader(ImGui::TableGetColumnName(i));
    }
  }

  static void to_the_right(const char* text) {
    const float space = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text).x;
    if (space > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + space);
  }

  void draw_module(const view::ModuleLine& line, int depth) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGuiTreeNodeFlags flags = ImGuiTreeNodeFlags_SpanAllColumns;
    if (depth < 3) flags |= ImGuiTreeNodeFlags_DefaultOpen;
    if (line.children.empty() && line.own.empty()) flags |= ImGuiTreeNodeFlags_Leaf;
    const bool open = ImGui::TreeNodeEx(line.name.c_str(), flags);
    if (ImGui::IsItemHovered() && is_why_asked()) why_.ask(view::why_parameters(line));
    ImGui::TableNextColumn();
    ImGui::TextDisabled("%s%s", line.class_name.c_str(),
                        line.times > 1 ? (" x" + std::to_string(line.times)).c_str() : "");
    ImGui::TableNextColumn();
    const std::string count = line.parameters == 0 ? "" : grouped(line.parameters);
    to_the_right(count.c_str());
    ImGui::TextUnformatted(count.c_str());
    if (!open) return;
    for (const std::string& parameter : line.own) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::Indent();
      ImGui::TextDisabled("%s", parameter.c_str());
      ImGui::Unindent();
    }
    for (const view::ModuleLine& child : line.children) draw_module(child, depth + 1);
    ImGui::TreePop();
  }

  view::Background<view::ModelList> list_;
  std::optional<std::size_t> chosen_;
  view::ModuleLine tree_;
  DataGridState grid_;
  WhyPopup why_;
};

}  // namespace

std::unique_ptr<Panel> make_models_panel() {
  return std::make_unique<ModelsPanel>();
}

}  // namespace shardlab::gui
