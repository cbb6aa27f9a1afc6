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
  const std::filesystem::path& file() const { return homes_[states_[now_].home].file; }
  // The file's name, or "untitled".
  std::string title() const;
  bool changed() const { return text() != saved_text(); }
  const std::string& saved_text() const { return homes_[states_[now_].home].saved_text; }
  // Grows with every change of the text; what was computed from another revision is stale.
  std::uint64_t revision() const { return revision_; }

  // Which of the documents that this has been: another number where it became another one.
  std::size_t home() const { return states_[now_].home; }

  // False when nothing changes.
  bool edit(std::string text, const EditLabel& label);
  // Becomes another document, which was never saved; undo leads back to this one and to its file.
  void become(std::string text, const EditLabel& label);
  bool undo();
  bool redo();
  bool can_undo() const { return now_ > 0; }
  bool can_redo() const { return now_ + 1 < states_.size(); }
  const std::string& undo_what() const { return states_[now_].label.what; }
  const std::string& redo_what() const { return states_[now_ + 1].label.what; }

  void saved_as(std::filesystem::path file);
  // Another program wrote the file; the text here stays as it is.
  void saved_text_is(std::string text) { homes_[states_[now_].home].saved_text = std::move(text); }

 private:
  // Where texts are kept, and which one was last.
  struct Home {
    std::filesystem::path file;  // empty: never saved
    std::string saved_text;
  };
  struct State {
    std::string text;
    EditLabel label;
    std::size_t home = 0;  // of homes_
  };
  void add_state(State state);

  std::vector<Home> homes_{Home{}};  // one for each document that this has been
  std::vector<State> states_{State{}};
  std::size_t now_ = 0;
  std::uint64_t revision_ = 1;
};

}  // namespace shardlab::gui
