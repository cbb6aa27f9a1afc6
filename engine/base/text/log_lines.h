// Bytes of a log, cut into lines, in bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace shardlab {

// The longest piece of a line that is looked at as one; longer lines come in pieces that overlap, so that
// what stands across a cut is seen.
inline constexpr std::size_t k_longest_line = 32 * 1024;
inline constexpr std::size_t k_line_overlap = 2 * 1024;

// Cuts at line feeds and at carriage returns (progress bars write over their line). NUL bytes are left out,
// so that a log in UTF-16 reads as its ASCII.
class LineCutter {
 public:
  // Number of the line, from 1, counted by line feeds; its bytes, valid during the call.
  using Take = std::function<void(std::int64_t number, std::string_view text)>;

  explicit LineCutter(Take take) : take_(std::move(take)) {}

  void feed(std::string_view bytes);
  void finish();

  // So far; one that no line feed ended counts.
  std::int64_t lines() const { return ended_ ? number_ - 1 : number_; }

 private:
  void append(std::string_view bytes);
  void end_line();

  Take take_;
  std::string pending_;
  std::int64_t number_ = 1;
  bool ended_ = true;   // whether nothing follows the last line feed
  bool fresh_ = false;  // whether pending_ holds more than the overlap of the piece before
};

// Without escape sequences of terminals: `\e[...m` and the like. Returns `text` itself where there are none.
std::string_view without_escapes(std::string_view text, std::string& scratch);

// Without the spaces at both ends.
std::string_view without_spaces(std::string_view text);

// One line that can be shown anywhere: control characters and bytes that are no UTF-8 replaced, runs of
// spaces one space, at most `longest` bytes with "..." where something was left out.
std::string readable(std::string_view text, std::size_t longest = 300);

// The same of a line whose `at`-th byte matters: a long line begins shortly before it, after "...".
std::string readable_around(std::string_view text, std::size_t at);

}  // namespace shardlab
