#include "gui/session/document.h"

namespace shardlab::gui {

Document::Document(std::string text, std::filesystem::path file)
    : states_{State{text, {}}}, saved_text_(std::move(text)), file_(std::move(file)) {}

std::string Document::title() const {
  return file_.empty() ? "untitled" : file_.filename().string();
}

bool Document::edit(std::string text, const EditLabel& label) {
  if (text == this->text()) return false;
  states_.resize(now_ + 1);
  const EditLabel& last = states_[now_].label;
  const bool same = now_ > 0 && !label.what.empty() && last.what == label.what &&
                    label.at_seconds - last.at_seconds < k_same_edit_seconds;
  if (same) {
    states_[now_] = {std::move(text), label};
  } else {
    states_.push_back({std::move(text), label});
    if (states_.size() > k_most_undos) states_.erase(states_.begin());
    now_ = states_.size() - 1;
  }
  ++revision_;
  return true;
}

bool Document::undo() {
  if (!can_undo()) return false;
  states_[now_].label.at_seconds = -1e9;  // what is typed after a redo is an edit of its own
  --now_;
  ++revision_;
  return true;
}

bool Document::redo() {
  if (!can_redo()) return false;
  ++now_;
  ++revision_;
  return true;
}

void Document::saved_as(std::filesystem::path file) {
  file_ = std::move(file);
  saved_text_ = text();
}

}  // namespace shardlab::gui
