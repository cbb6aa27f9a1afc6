// The definition of a word that somebody clicked on in a text, or asked for: what it means, the smallest plan
// that shows it, the lessons about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gui/session/session.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

class WordWindow {
 public:
  // Opens without a word, to choose one.
  void ask() { asks_ = true; }
  // Every frame; a lesson that is clicked on is opened by the session's selection.
  void draw(Session& session, const Theme& theme);

 private:
  void place(const Theme& theme) const;
  void draw_card(const view::WordCard& card, Session& session, const Theme& theme);
  void draw_choice(view::WordLinks& words, const Theme& theme);
  void close(view::WordLinks& words);

  bool asks_ = false;
  std::string typed_;
  std::optional<Error> unknown_;  // why what was typed is no word
  std::uint64_t seen_ = 0;        // of what was opened
};

}  // namespace shardlab::gui
