#include "engine/lessons/words_in_text.h"

#include <algorithm>

#include "engine/lessons/plain_name.h"

namespace shardlab::lessons {
namespace {

// A word as it stands in a text; a dot within it makes it a setting's name.
struct SpeltPiece {
  std::size_t begin = 0, end = 0;
};

bool is_of_piece(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::vector<SpeltPiece> spelt_pieces(std::string_view text) {
  std::vector<SpeltPiece> pieces;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_of_piece(text[at])) {
      ++at;
      continue;
    }
    SpeltPiece piece{at, at};
    while (piece.end < text.size() && is_of_piece(text[piece.end])) ++piece.end;
    at = piece.end;
    while (piece.end > piece.begin && text[piece.end - 1] == '.') --piece.end;  // a sentence's
    if (piece.end > piece.begin) pieces.push_back(piece);
  }
  return pieces;
}

// Whether two pieces may be one name: all-gather, mixed precision, also over the end of a line.
bool are_joined(std::string_view text, const SpeltPiece& first, const SpeltPiece& second) {
  const std::string_view between = text.substr(first.end, second.begin - first.end);
  return between == "-" || between.find_first_not_of(" \n") == std::string_view::npos;
}

// "all reduce-scatters" has no "all reduce": a blank does not join what a hyphen joins with the next piece.
bool is_torn(std::string_view text, std::size_t begin, std::size_t end) {
  const bool goes_on = end + 1 < text.size() && text[end] == '-' && is_of_piece(text[end + 1]);
  return goes_on && text.substr(begin, end - begin).find_first_of(" \n") != std::string_view::npos;
}

bool has_capital(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

WordFinder::WordFinder(const Glossary& glossary) {
  for (const GlossarySection& section : glossary.sections) {
    for (const GlossaryWord& word : section.words) {
      for (const auto* names : {&word.names, &word.also}) {
        for (const std::string& name : *names) {
          const auto& ordinary = word.ordinary;
          const bool is_ordinary = std::find(ordinary.begin(), ordinary.end(), name) != ordinary.end();
          names_.try_emplace(plain_name(name), Name{name, &word, is_ordinary});
        }
      }
    }
  }
}

// A plural is found by its singular.
const WordFinder::Name* WordFinder::named(const std::string& plain) const {
  auto found = names_.find(plain);
  if (found == names_.end() && plain.ends_with('s')) found = names_.find(plain.substr(0, plain.size() - 1));
  return found == names_.end() ? nullptr : &found->second;
}

const GlossaryWord* WordFinder::word_of(std::string_view text, bool marked) const {
  const Name* const name = named(plain_name(text));
  if (name == nullptr) return nullptr;
  // "zero" in a sentence is a number; with its capitals it can only be the term.
  const bool is_spelt = has_capital(name->spelt) && text.starts_with(name->spelt);
  return name->is_ordinary && !marked && !is_spelt ? nullptr : name->word;
}

std::vector<WordInText> WordFinder::find(std::string_view text, bool marked) const {
  constexpr std::size_t k_most = 4;  // pieces of the longest name
  const std::vector<SpeltPiece> pieces = spelt_pieces(text);
  std::vector<WordInText> found;
  for (std::size_t first = 0; first < pieces.size(); ++first) {
    std::size_t last = first;
    while (last + 1 < pieces.size() && last + 1 < first + k_most &&
           are_joined(text, pieces[last], pieces[last + 1]))
      ++last;
    for (;; --last) {
      const std::size_t begin = pieces[first].begin, size = pieces[last].end - begin;
      const GlossaryWord* const word =
          is_torn(text, begin, begin + size) ? nullptr : word_of(text.substr(begin, size), marked);
      if (word != nullptr) {
        found.push_back({begin, size, word});
        first = last;
        break;
      }
      if (last == first) break;
    }
  }
  return found;
}

}  // namespace shardlab::lessons
