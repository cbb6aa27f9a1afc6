// Texts, equal ones once: a large pickle has few that differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace shardlab {

class EqualTexts {
 public:
  EqualTexts() : numbers_(0, Hash{this}, Same{this}) {}
  EqualTexts(const EqualTexts&) = delete;             // the set asks this object for the texts
  EqualTexts& operator=(const EqualTexts&) = delete;  // likewise

  // Its number, from 0 on.
  std::uint32_t add(std::string_view text);
  // Until another is added.
  std::string_view text(std::uint32_t number) const {
    const Piece& piece = pieces_[number];
    return std::string_view(all_).substr(piece.begin, piece.length);
  }

 private:
  struct Piece {
    std::size_t begin = 0;
    std::size_t length = 0;
  };
  struct Hash {
    using is_transparent = void;
    const EqualTexts* table;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    std::size_t operator()(std::uint32_t number) const { return (*this)(table->text(number)); }
  };
  struct Same {
    using is_transparent = void;
    const EqualTexts* table;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
    bool operator()(std::string_view a, std::uint32_t b) const { return a == table->text(b); }
    bool operator()(std::uint32_t a, std::string_view b) const { return table->text(a) == b; }
  };

  std::string all_;
  std::vector<Piece> pieces_;
  std::unordered_set<std::uint32_t, Hash, Same> numbers_;
};

}  // namespace shardlab
