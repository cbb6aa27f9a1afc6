// A panel: one window of the shell, which shows one side of the session.
//
// To add one: a folder gui/panels/<name> with <name>_panel.cpp that defines make_<name>_panel(); the build
// finds it. A panel owns what it shows (scroll positions, filters), reads and changes the session, and knows
// no other panel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gui/session/session.h"
#include "gui/widgets/picture.h"
#include "gui/widgets/plot_edges.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Where the default layout puts it. Panels of one area are tabs, in the order of `rank`.
enum class DockArea : std::uint8_t { left, centre, right, bottom };

struct PanelInfo {
  std::string id;     // the folder's name: what --panel and the layout call it
  std::string title;  // of its tab
  std::string help;   // one line, for the palette
  DockArea area = DockArea::centre;
  int rank = 0;
  bool open = true;            // at first
  ImGuiKeyChord shortcut = 0;  // brings it to the front
};

// A panel that a reader needs beside the one that is read.
struct AsidePanel {
  std::string panel;
  std::string beside;
  friend bool operator==(const AsidePanel&, const AsidePanel&) = default;
};

struct PanelContext {
  Session& session;
  const Theme& theme;
  std::vector<PictureRequest>& pictures;  // what is put here is saved as PNG when the frame is done
  std::vector<std::string>& to_front;     // ids of panels that are opened and brought to the front
  PlotEdges& plot_edges;                  // of plots over the shared time axis
  // Ids of panels that are not to cover the one which names them, told anew in every update(): such a panel
  // stands elsewhere meanwhile where both are tabs of one place.
  std::vector<AsidePanel>& aside;
};

class Panel {
 public:
  virtual ~Panel() = default;

  virtual PanelInfo info() const = 0;
  // Inside its window, every frame in which that is visible. Never blocks.
  virtual void draw(PanelContext& context) = 0;
  // Every frame, visible or not: to take what threads of its own have ready. Draws nothing.
  virtual void update(PanelContext& context) { (void)context; }
  // Whether a thread still makes what it shows: then there will be something to draw without any input.
  virtual bool busy() const { return false; }
};

// All panels, in the order of their names. The list is made by the build from the folders of gui/panels.
std::vector<std::unique_ptr<Panel>> make_panels();

}  // namespace shardlab::gui
