#include "engine/lessons/markdown.h"

namespace shardlab::lessons {
namespace {

using BlockKind = MarkdownBlock::Kind;

// A lesson may be anybody's: an address is one of the web, not a script.
bool is_of_the_web(std::string_view address) {
  return address.starts_with("https://") || address.starts_with("http://");
}

std::string line_html(const MarkdownLine& line) {
  std::string html;
  for (const MarkdownSpan& span : line) {
    std::string text = escaped_html(span.text);
    if (span.code) text = "<code>" + text + "</code>";
    if (span.strong) text = "<strong>" + text + "</strong>";
    if (is_of_the_web(span.link)) text = "<a href=\"" + escaped_html(span.link) + "\">" + text + "</a>";
    html += text;
  }
  return html;
}

std::string table_html(const std::vector<std::vector<MarkdownLine>>& rows) {
  std::string html = "<table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::string cell = r == 0 ? "th" : "td";
    html += "<tr>";
    for (const MarkdownLine& line : rows[r]) html += "<" + cell + ">" + line_html(line) + "</" + cell + ">";
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string_view list_tag(const MarkdownBlock& block) {
  return block.mark == "-" ? "ul" : "ol";
}

}  // namespace

std::string escaped_html(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&': html += "&amp;"; break;
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '"': html += "&quot;"; break;
      default: html += c;
    }
  }
  return html;
}

std::string markdown_as_html(std::string_view text) {
  std::string html;
  std::string open;  // the list that is open
  for (const MarkdownBlock& block : parse_markdown(text)) {
    const std::string wanted(block.kind == BlockKind::item ? list_tag(block) : "");
    if (wanted != open && !open.empty()) html += "</" + open + ">\n";
    if (wanted != open && !wanted.empty()) html += "<" + wanted + ">\n";
    open = wanted;
    switch (block.kind) {
      case BlockKind::paragraph: html += "<p>" + line_html(block.line) + "</p>\n"; break;
      case BlockKind::item: html += "<li>" + line_html(block.line) + "</li>\n"; break;
      case BlockKind::table: html += table_html(block.rows); break;
      case BlockKind::code: html += "<pre>" + escaped_html(block.code) + "</pre>\n"; break;
    }
  }
  if (!open.empty()) html += "</" + open + ">\n";
  return html;
}

}  // namespace shardlab::lessons
