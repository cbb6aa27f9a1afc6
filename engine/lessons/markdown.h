// The little Markdown that lessons are written in, as values: paragraphs, lists, tables, code.
//
// **strong**, `code`, [text](address); lines that begin with "- " or "1. " are items, lines between | are
// rows of a table (the one of dashes is left out), lines between ``` are code. What is anything else is text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab::lessons {

struct MarkdownSpan {
  std::string text{};
  bool strong = false;
  bool code = false;
  std::string link{};  // an address; empty: none

  friend bool operator==(const MarkdownSpan&, const MarkdownSpan&) = default;
};
using MarkdownLine = std::vector<MarkdownSpan>;

struct MarkdownBlock {
  enum class Kind : std::uint8_t { paragraph, item, table, code };

  Kind kind = Kind::paragraph;
  MarkdownLine line{};                            // of a paragraph or an item
  std::string mark{};                             // of an item: "-" or "1."
  std::vector<std::vector<MarkdownLine>> rows{};  // of a table, the head first
  std::string code{};                             // with its line ends

  friend bool operator==(const MarkdownBlock&, const MarkdownBlock&) = default;
};

std::vector<MarkdownBlock> parse_markdown(std::string_view text);

// Without its marks, a link as its text.
std::string plain_text(const MarkdownLine& line);

// Its paragraphs, items and cells likewise, with blanks between them.
std::string plain_text(const std::vector<MarkdownBlock>& text);

// For the terminal, wrapped to `width` columns; strong text in bold where there are colours. Ends with a line
// end.
std::string markdown_for_terminal(std::string_view text, int width, bool colour);

// As HTML, everything escaped; a link to anything but a web page is its text.
std::string markdown_as_html(std::string_view text);
std::string escaped_html(std::string_view text);

}  // namespace shardlab::lessons
