// Hardware: GPUs and nodes whose figures ship with the program.
#include <fmt/format.h>

#include "engine/hardware/node.h"
#include "gui/shell/panel.h"

namespace shardlab::gui {
namespace {

class HardwarePanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "hardware",
            .title = "Hardware",
            .help = "GPUs and nodes, with the source of every figure",
            .area = DockArea::right,
            .rank = 50};
  }

  void draw(PanelContext&) override {
    for (const std::string& name : gpu_names()) ImGui::TextUnformatted(name.c_str());
  }
};

}  // namespace

std::unique_ptr<Panel> make_hardware_panel() {
  return std::make_unique<HardwarePanel>();
}

}  // namespace shardlab::gui
