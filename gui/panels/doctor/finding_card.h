// One finding: what is the matter, what shows it, what to do.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gui/view_model/doctor/findings_view.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Which evidence has the lines of the log around it shown.
struct ShownLines {
  const view::EvidenceLine* evidence = nullptr;
  bool is_new = false;
};

struct CardOptions {
  bool can_apply = false;                                      // its fix, where that can be at all
  const std::map<std::int64_t, std::string>* lines = nullptr;  // of the log; null for a scenario
  ShownLines* shown = nullptr;                                 // likewise; a click on evidence changes it
};

struct CardEvents {
  const view::FindingCard* applied = nullptr;
  const view::EvidenceLine* followed = nullptr;  // to an instruction or a setting
};

ImU32 colour_of(const Theme& theme, Severity severity);

CardEvents draw_finding_card(const view::FindingCard& card, const CardOptions& options, const Theme& theme);

}  // namespace shardlab::gui
