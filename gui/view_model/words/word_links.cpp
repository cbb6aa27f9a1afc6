#include "gui/view_model/words/word_links.h"

#include <utility>

namespace shardlab::view {
namespace {

constexpr TextStyle k_on_card{72, false};

}  // namespace

// The finder points into the glossary, which stays where it is.
struct WordLinks::Read {
  Result<lessons::Glossary> glossary = lessons::shipped_glossary();
  std::optional<lessons::WordFinder> finder =
      glossary ? std::optional<lessons::WordFinder>(*glossary) : std::nullopt;
};

const WordLinks::Read& WordLinks::read() {
  if (!read_) read_ = std::make_shared<const Read>();
  return *read_;
}

const Result<lessons::Glossary>& WordLinks::glossary() {
  return read().glossary;
}

std::vector<lessons::WordInText> WordLinks::find(std::string_view text, bool marked) {
  const auto& finder = read().finder;
  return finder ? finder->find(text, marked) : std::vector<lessons::WordInText>();
}

// Such texts are terms: what is a word of everyday language elsewhere is meant as one.
const lessons::GlossaryWord* WordLinks::point_at(std::string_view text) {
  const std::vector<lessons::WordInText> found = find(text, true);
  if (found.empty()) return nullptr;
  return pointed_ = found.front().word;
}

const lessons::GlossaryWord* WordLinks::take_pointed() {
  return std::exchange(pointed_, nullptr);
}

void WordLinks::open(const lessons::GlossaryWord& word) {
  ++count_;
  if (!opened_.empty() && opened_.back() == &word) return;
  opened_.push_back(&word);
  reckon();
}

Status WordLinks::open(std::string_view typed) {
  SHARDLAB_CHECK_OK(glossary());
  SHARDLAB_TRY(const lessons::GlossaryWord* const word, glossary()->find(typed));
  open(*word);
  return {};
}

void WordLinks::go_back() {
  if (!can_go_back()) return;
  opened_.pop_back();
  reckon();
}

void WordLinks::close() {
  opened_.clear();
}

// The thread keeps what it reads alive, whatever becomes of the window.
void WordLinks::reckon() {
  card_ = {opened_.back(), lessons::parse_markdown(opened_.back()->meaning), nullptr};
  reckoned_.want([word = opened_.back(), glossary = read_, cache = cache_] {
    return Reckoned{word, std::make_shared<const Result<lessons::ExplainedWord>>(
                              lessons::explain_word(*glossary->glossary, *word, *cache, k_on_card))};
  });
}

const WordCard* WordLinks::card() {
  if (reckoned_.poll() && reckoned_.value() && reckoned_.value()->word == card_.word)
    card_.explained = reckoned_.value()->explained;
  return opened_.empty() ? nullptr : &card_;
}

}  // namespace shardlab::view
