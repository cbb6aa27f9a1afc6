// The fix that was applied last, as long as the text is what it made of it: what it changed, and its undoing.
#pragma once

#include <cstdint>
#include <optional>

#include "gui/session/session.h"
#include "gui/view_model/doctor/findings_view.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

class AppliedFix {
 public:
  // One edit of the scenario.
  void apply(const view::FindingCard& card, Session& session);
  // Nothing where there is none.
  void draw(Session& session, const Theme& theme);

 private:
  std::optional<view::FindingCard> card_;
  std::uint64_t revision_ = 0;  // of the document, with the fix; the next counts opened documents
  std::uint64_t opened_ = 0;
};

}  // namespace shardlab::gui
