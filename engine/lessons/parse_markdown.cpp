#include <algorithm>
#include <cctype>

#include "engine/lessons/markdown.h"

namespace shardlab::lessons {
namespace {

using BlockKind = MarkdownBlock::Kind;

void add_span(MarkdownLine& line, MarkdownSpan span) {
  if (!span.text.empty()) line.push_back(std::move(span));
}

// Finds links, [text](address), from the left to the right. What was found is kept for the next place: else a
// text of brackets alone would be searched to its end from each of them.
class LinkFinder {
 public:
  explicit LinkFinder(std::string_view text) : text_(text) {}

  // The length of the link at `at`, 0 where there is none.
  std::size_t take(std::size_t at, MarkdownSpan& span) {
    if (text_[at] != '[') return 0;
    if (close_ <= at) close_ = text_.find("](", at);
    if (close_ == std::string_view::npos) return 0;
    if (end_ <= close_) end_ = text_.find(')', close_);
    if (end_ == std::string_view::npos) return 0;
    span.text = text_.substr(at + 1, close_ - at - 1);
    span.link = text_.substr(close_ + 2, end_ - close_ - 2);
    return end_ - at + 1;
  }

 private:
  std::string_view text_;
  std::size_t close_ = 0, end_ = 0;
};

MarkdownLine parse_line(std::string_view text) {
  MarkdownLine line;
  MarkdownSpan span;
  LinkFinder links(text);
  for (std::size_t at = 0; at < text.size();) {
    MarkdownSpan link;
    if (text[at] == '`') {
      add_span(line, std::exchange(span, {.strong = span.strong, .code = !span.code}));
      ++at;
    } else if (!span.code && text.substr(at).starts_with("**")) {
      add_span(line, std::exchange(span, {.strong = !span.strong}));
      at += 2;
    } else if (const std::size_t length = span.code ? 0 : links.take(at, link); length > 0) {
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

std::string plain_text(const std::vector<MarkdownBlock>& text) {
  std::string plain;
  const auto add = [&](const std::string& part) { plain += (plain.empty() ? "" : " ") + part; };
  for (const MarkdownBlock& block : text) {
    if (!block.line.empty()) add(plain_text(block.line));
    if (!block.code.empty()) add(block.code);
    for (const auto& row : block.rows) {
      for (const MarkdownLine& cell : row) add(plain_text(cell));
    }
  }
  return plain;
}

}  // namespace shardlab::lessons
