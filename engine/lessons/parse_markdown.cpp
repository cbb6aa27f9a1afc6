#include <algorithm>
#include <cctype>

#include "engine/lessons/markdown.h"

namespace shardlab::lessons {
namespace {

using BlockKind = MarkdownBlock::Kind;

void add_span(MarkdownLine& line, MarkdownSpan span) {
  if (!span.text.empty()) line.push_back(std::move(span));
}

// [text](address) at `at`; the length of it, 0 where there is none.
std::size_t take_link(std::string_view text, std::size_t at, MarkdownSpan& span) {
  const std::size_t close = text.find("](", at);
  if (text[at] != '[' || close == std::string_view::npos) return 0;
  const std::size_t end = text.find(')', close);
  if (end == std::string_view::npos || text.substr(at, close - at).find('\n') != std::string_view::npos)
    return 0;
  span.text = text.substr(at + 1, close - at - 1);
  span.link = text.substr(close + 2, end - close - 2);
  return end - at + 1;
}

MarkdownLine parse_line(std::string_view text) {
  MarkdownLine line;
  MarkdownSpan span;
  for (std::size_t at = 0; at < text.size();) {
    MarkdownSpan link;
    if (text[at] == '`') {
      add_span(line, std::exchange(span, {.strong = span.strong, .code = !span.code}));
      ++at;
    } else if (!span.code && text.substr(at).starts_with("**")) {
      add_span(line, std::exchange(span, {.strong = !span.strong}));
      at += 2;
    } else if (const std::size_t length = span.code ? 0 : take_link(text, at, link); length > 0) {
      add_span(line, std::exchange(span, {.strong = span.strong}));
      add_span(line, std::move(link));
      at += length;
    } else {
      span.text += text[at++];
    }
  }
  add_span(line, std::move(span));
  return line;
}

std::string_view stripped(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "- " or "12. " at the beginning; the mark, empty where there is none.
std::string_view item_mark(std::string_view line) {
  if (line.starts_with("- ")) return line.substr(0, 1);
  std::size_t digits = 0;
  while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits])) != 0) ++digits;
  return digits > 0 && line.substr(digits).starts_with(". ") ? line.substr(0, digits + 1)
                                                             : std::string_view();
}

std::vector<MarkdownLine> parse_row(std::string_view line) {
  line = stripped(line);
  line.remove_prefix(1);
  if (line.ends_with('|')) line.remove_suffix(1);
  std::vector<MarkdownLine> cells;
  while (true) {
    const std::size_t bar = line.find('|');
    cells.push_back(parse_line(stripped(line.substr(0, bar))));
    if (bar == std::string_view::npos) return cells;
    line.remove_prefix(bar + 1);
  }
}

bool is_rule(std::string_view line) {
  return line.find_first_not_of("|-: ") == std::string_view::npos;
}

// Gathers lines into blocks.
class BlockParser {
 public:
  void take(std::string_view line) {
    if (stripped(line).starts_with("```")) {
      finish();
      if (!in_code_) blocks_.push_back({.kind = BlockKind::code});
      in_code_ = !in_code_;
    } else if (in_code_) {
      blocks_.back().code += std::string(line) + "\n";
    } else if (stripped(line).empty()) {
      finish();
    } else if (stripped(line).starts_with('|')) {
      take_row(line);
    } else if (const std::string_view mark = item_mark(stripped(line)); !mark.empty()) {
      finish();
      mark_ = mark;
      text_ = stripped(stripped(line).substr(mark.size()));
    } else {
      text_ += (text_.empty() ? "" : " ") + std::string(stripped(line));
    }
  }

  std::vector<MarkdownBlock> blocks() {
    finish();
    return std::move(blocks_);
  }

 private:
  void finish() {
    if (!text_.empty())
      blocks_.push_back({.kind = mark_.empty() ? BlockKind::paragraph : BlockKind::item,
                         .line = parse_line(text_),
                         .mark = mark_});
    text_.clear();
    mark_.clear();
    in_table_ = false;
  }

  void take_row(std::string_view line) {
    if (!in_table_) finish();
    if (!in_table_) blocks_.push_back({.kind = BlockKind::table});
    in_table_ = true;
    if (!is_rule(line)) blocks_.back().rows.push_back(parse_row(line));
  }

  std::vector<MarkdownBlock> blocks_;
  std::string text_, mark_;
  bool in_code_ = false;
  bool in_table_ = false;
};

}  // namespace

std::vector<MarkdownBlock> parse_markdown(std::string_view text) {
  BlockParser parser;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    parser.take(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parser.blocks();
}

std::string plain_text(const MarkdownLine& line) {
  std::string text;
  for (const MarkdownSpan& span : line) text += span.text;
  return text;
}

}  // namespace shardlab::lessons
