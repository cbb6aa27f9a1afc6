// Hardware: the GPUs and nodes that ship with the program, where each figure comes from, and taking one into
// the scenario.
#include "gui/shell/follow_why.h"
#include "gui/view_model/hardware_list.h"
#include "gui/view_model/latest.h"
#include "gui/widgets/data_grid.h"
#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

using view::HardwareKind;

class HardwarePanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "hardware",
            .title = "Hardware",
            .help = "GPUs and nodes, with the source of every figure",
            .area = DockArea::right,
            .rank = 50,
            .open = true,
            .shortcut = 0};
  }

  bool busy() const override { return list_.busy(); }

  void draw(PanelContext& context) override {
    const view::HardwareList* const list = list_.get(view::read_hardware);
    if (list == nullptr) {
      ImGui::TextDisabled("Reading ...");
      return;
    }
    for (const Error& problem : list->problems)
      ImGui::TextColored(ImColor(context.theme.bad), "%s", to_string(problem).c_str());
    if (!ImGui::BeginTabBar("kinds", ImGuiTabBarFlags_DrawSelectedOverline)) return;
    if (begin_tab("GPUs")) {
      draw_kind(HardwareKind::gpu, list->gpus, list->gpu_names, context);
      ImGui::EndTabItem();
    }
    if (begin_tab("Nodes")) {
      draw_kind(HardwareKind::node, list->nodes, list->node_names, context);
      ImGui::EndTabItem();
    }
    ImGui::EndTabBar();
  }

 private:
  struct Chosen {
    std::string name;
    Result<view::DataTable> figures = view::DataTable{};
    std::uint64_t version = 0;
    DataGridState rows, figures_grid;
  };

  void draw_kind(HardwareKind kind, const view::DataTable& table, const std::vector<std::string>& names,
                 PanelContext& context) {
    Chosen& chosen = kind == HardwareKind::gpu ? gpu_ : node_;
    const bool detailed = !chosen.name.empty();
    const float height = detailed ? ImGui::GetContentRegionAvail().y * 0.45F : 0;
    const auto is_chosen = [&](const view::Row& row) {
      return names[static_cast<std::size_t>(row.key)] == chosen.name;
    };
    const char* const label = kind == HardwareKind::gpu ? "gpus" : "nodes";
    const GridEvents events =
        data_grid(label, table, chosen.rows, {.size = {0, height}, .is_chosen = is_chosen, .stretched = 0},
                  context.theme);
    follow_why(events.answer, nullptr, context);
    if (events.click) {
      chosen.name = names[static_cast<std::size_t>(table.rows[events.click->row].key)];
      chosen.figures = view::figure_table(kind, chosen.name);
      ++chosen.version;
    }
    if (detailed) draw_figures(kind, chosen, context);
  }

  static void draw_figures(HardwareKind kind, Chosen& chosen, PanelContext& context) {
    ImGui::SeparatorText(chosen.name.c_str());
    Session& session = context.session;
    ImGui::BeginDisabled(session.documents_opened() == 0);
    if (kind == HardwareKind::node && ImGui::Button("Use in the scenario")) use_node(chosen.name, session);
    ImGui::EndDisabled();
    if (!chosen.figures) {
      ImGui::TextColored(ImColor(context.theme.bad), "%s", to_string(chosen.figures.error()).c_str());
      return;
    }
    data_grid("figures", *chosen.figures, chosen.figures_grid, {.revision = chosen.version}, context.theme);
  }

  // A scenario that described its machine in another way becomes one of this node.
  static void use_node(const std::string& name, Session& session) {
    for (const char* const other : {"device", "ranks", "threads_per_rank", "gpu"})
      session.unset(std::string("cluster.") + other);
    session.set("cluster.node", name);
  }

  view::Background<view::HardwareList> list_;
  Chosen gpu_, node_;
};

}  // namespace

std::unique_ptr<Panel> make_hardware_panel() {
  return std::make_unique<HardwarePanel>();
}

}  // namespace shardlab::gui
