// The scenario that is being edited: its text, where it is kept, and its history.
//
// A plain value. The text is the truth; the form and the Scenario are read from it. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace shardlab::gui {

// What an edit was, so that a run of keystrokes or of steps of one control is undone as one.
struct EditLabel {
  std::string what;       // "train.micro_batch", "text": shown in the menu
  double at_seconds = 0;  // edits of one `what` within k_same_edit_seconds are one
};

class Document {
 public:
  static constexpr double k_same_edit_seconds = 1.0;
  static constexpr std::size_t k_most_undos = 500;

  Document() = default;
  // As read from (or saved to) a file; an empty path: never saved.
  Document(std::string text, std::filesystem::path file);

  const std::string& text() const { return states_[now_].text; }
  const std::filesystem::path& file() const { return file_; }
  // The file's name, or "untitled".
  std::string title() const;
  bool changed() const { return text() != saved_text_; }
  const std::string& saved_text() const { return saved_text_; }
  // Grows with every change of the text; what was computed from another revision is stale.
  std::uint64_t revision() const { return revision_; }

  // False when nothing changes.
  bool edit(std::string text, const EditLabel& label);
  bool undo();
  bool redo();
  bool can_undo() const { return now_ > 0; }
  bool can_redo() const { return now_ + 1 < states_.size(); }
  const std::string& undo_what() const { return states_[now_].label.what; }
  const std::string& redo_what() const { return states_[now_ + 1].label.what; }

  void saved_as(std::filesystem::path file);
  // Another program wrote the file; the text here stays as it is.
  void saved_text_is(std::string text) { saved_text_ = std::move(text); }

 private:
  struct State {
    std::string text;
    EditLabel label;
  };

  std::vector<State> states_{State{}};
  std::size_t now_ = 0;
  std::uint64_t revision_ = 1;
  std::string saved_text_;
  std::filesystem::path file_;
};

}  // namespace shardlab::gui
