// The words of the glossary as the window uses them: found in the texts of panels and messages, opened by a
// click, explained on a thread of their own.
//
// Belongs to the frame's thread. The glossary is read when it is first asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lessons/markdown.h"
#include "engine/lessons/words_in_text.h"
#include "gui/view_model/latest.h"
#include "simulator/lessons/explained_word.h"

namespace shardlab::view {

// What a word opens.
struct WordCard {
  const lessons::GlossaryWord* word = nullptr;
  std::vector<lessons::MarkdownBlock> meaning;
  // The smallest plan that shows it, and the lessons; null while that is reckoned.
  std::shared_ptr<const Result<lessons::ExplainedWord>> explained;
};

class WordLinks {
 public:
  // Where they stand in a text; nothing where there is no glossary.
  std::vector<lessons::WordInText> find(std::string_view text, bool marked = false);
  // The mouse rests on a text that has no room for links, as a heading: its first word, which a key may open;
  // null where none stands in it.
  const lessons::GlossaryWord* point_at(std::string_view text);
  // The word that was pointed at since it was asked before; null: none.
  const lessons::GlossaryWord* take_pointed();
  // Every word, for a list of them; an error where the glossary is not installed.
  const Result<lessons::Glossary>& glossary();

  // A word as find() gives it, or as somebody types it: an unknown one is an error with the nearest.
  void open(const lessons::GlossaryWord& word);
  Status open(std::string_view typed);
  // The one that was open before.
  void go_back();
  bool can_go_back() const { return opened_.size() > 1; }
  void close();

  // Takes what the thread has ready; null: no word is open.
  const WordCard* card();
  bool busy() const { return reckoned_.busy(); }
  // Counts what was opened, so that whoever draws the card knows when it is another one.
  std::uint64_t opened() const { return count_; }

 private:
  struct Read;
  struct Reckoned {
    const lessons::GlossaryWord* word = nullptr;
    std::shared_ptr<const Result<lessons::ExplainedWord>> explained;
  };
  const Read& read();
  void reckon();

  std::shared_ptr<const Read> read_;
  std::shared_ptr<lessons::PredictionCache> cache_ = std::make_shared<lessons::PredictionCache>();
  const lessons::GlossaryWord* pointed_ = nullptr;
  std::vector<const lessons::GlossaryWord*> opened_;  // the last is shown
  WordCard card_;
  std::uint64_t count_ = 0;
  Latest<Reckoned> reckoned_;
};

}  // namespace shardlab::view
