#include "gui/session/document.h"

namespace shardlab::gui {

Document::Document(std::string text, std::filesystem::path file)
    : homes_{Home{std::move(file), text}}, states_{State{std::move(text), {}}} {}

std::string Document::title() const {
  return file().empty() ? "untitled" : file().filename().string();
}

bool Document::edit(std::string text, const EditLabel& label) {
  if (text == this->text()) return false;
  states_.resize(now_ + 1);
  const EditLabel& last = states_[now_].label;
  const bool same = now_ > 0 && !label.what.empty() && last.what == label.what &&
                    label.at_seconds - last.at_seconds < k_same_edit_seconds;
  State state{std::move(text), label, states_[now_].home};
  if (same) {
    states_[now_] = std::move(state);
  } else {
    add_state(std::move(state));
  }
  ++revision_;
  return true;
}

void Document::become(std::string text, const EditLabel& label) {
  states_.resize(now_ + 1);
  homes_.emplace_back();
  add_state({std::move(text), label, homes_.size() - 1});
  ++revision_;
}

void Document::add_state(State state) {
  states_.push_back(std::move(state));
  if (states_.size() > k_most_undos) states_.erase(states_.begin());
  now_ = states_.size() - 1;
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
  homes_[states_[now_].home] = {std::move(file), text()};
}

}  // namespace shardlab::gui
