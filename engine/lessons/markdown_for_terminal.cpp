#include <algorithm>

#include <fmt/format.h>

#include "engine/base/text/colours.h"
#include "engine/lessons/markdown.h"

namespace shardlab::lessons {
namespace {

// Columns of a text in UTF-8, wide characters aside.
int columns(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

struct Word {
  std::string text;
  bool strong = false;
  bool glued = false;  // to the one before, without a space
};

std::vector<Word> words_of_line(const MarkdownLine& line) {
  std::vector<Word> words;
  bool space = true;
  for (const MarkdownSpan& span : line) {
    std::string text = span.code ? "`" + span.text + "`" : span.text;
    if (!span.link.empty()) text += " (" + span.link + ")";
    for (const char c : text) {
      if (c == ' ' || c == '\n') {
        space = true;
        continue;
      }
      if (space || words.empty() || words.back().strong != span.strong)
        words.push_back({{}, span.strong, !space && !words.empty()});
      words.back().text += c;
      space = false;
    }
  }
  return words;
}

// Lines of at most `width` columns; the second and later ones begin with `indent` spaces.
std::string wrapped(const MarkdownLine& line, const std::string& first, std::size_t indent, int width,
                    bool colour) {
  std::string result = first;
  int at = columns(first);
  bool begins = true;
  for (const Word& word : words_of_line(line)) {
    const int length = columns(word.text);
    if (!word.glued && !begins && at + 1 + length > width) {
      result += "\n" + std::string(indent, ' ');
      at = static_cast<int>(indent);
      begins = true;
    }
    if (!begins && !word.glued) {
      result += ' ';
      ++at;
    }
    if (word.strong && colour)
      result += std::string(colours::k_strong) + word.text + std::string(colours::k_off);
    else
      result += word.text;
    at += length;
    begins = false;
  }
  return result + "\n";
}

std::string table_text(const std::vector<std::vector<MarkdownLine>>& rows, bool colour) {
  std::vector<int> widths;
  for (const auto& row : rows) {
    if (row.size() > widths.size()) widths.resize(row.size(), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(plain_text(row[i])));
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line = "  ";
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      const std::string cell = plain_text(rows[r][i]);
      const std::string pad(static_cast<std::size_t>(widths[i] - columns(cell)), ' ');
      // The first column says what a row is about, the others are figures.
      line += i == 0 ? cell + pad : "  " + pad + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += r == 0 && colour ? std::string(colours::k_strong) + line + std::string(colours::k_off) + "\n"
                             : line + "\n";
  }
  return text;
}

std::string indented_code(std::string_view code) {
  std::string text;
  while (!code.empty()) {
    const std::size_t end = code.find('\n');
    text += "    " + std::string(code.substr(0, end)) + "\n";
    code.remove_prefix(end == std::string_view::npos ? code.size() : end + 1);
  }
  return text;
}

}  // namespace

std::string markdown_for_terminal(std::string_view text, int width, bool colour) {
  std::string result;
  const MarkdownBlock* before = nullptr;
  const std::vector<MarkdownBlock> blocks = parse_markdown(text);
  for (const MarkdownBlock& block : blocks) {
    const bool in_list =
        before != nullptr && block.kind == MarkdownBlock::Kind::item && before->kind == block.kind;
    if (before != nullptr && !in_list) result += "\n";
    switch (block.kind) {
      case MarkdownBlock::Kind::paragraph: result += wrapped(block.line, "", 0, width, colour); break;
      case MarkdownBlock::Kind::item: {
        const std::string first = "  " + block.mark + " ";
        result += wrapped(block.line, first, first.size(), width, colour);
        break;
      }
      case MarkdownBlock::Kind::table: result += table_text(block.rows, colour); break;
      case MarkdownBlock::Kind::code: result += indented_code(block.code); break;
    }
    before = &block;
  }
  return result;
}

}  // namespace shardlab::lessons
