#include "engine/base/text/log_lines.h"

#include <algorithm>

#include "engine/base/text/utf8.h"

namespace shardlab {
namespace {

bool is_end(char c) {
  return c == '\n' || c == '\r';
}

}  // namespace

void LineCutter::feed(std::string_view bytes) {
  if (!bytes.empty()) ended_ = bytes.back() == '\n';
  while (!bytes.empty()) {
    const auto end = std::find_if(bytes.begin(), bytes.end(), is_end);
    append(bytes.substr(0, static_cast<std::size_t>(end - bytes.begin())));
    if (end == bytes.end()) return;
    end_line();
    if (*end == '\n') ++number_;
    bytes.remove_prefix(static_cast<std::size_t>(end - bytes.begin()) + 1);
  }
}

void LineCutter::append(std::string_view bytes) {
  if (bytes.empty()) return;
  fresh_ = true;
  while (!bytes.empty()) {
    const std::size_t room = k_longest_line - pending_.size();
    const std::string_view part = bytes.substr(0, room);
    pending_.append(part);
    bytes.remove_prefix(part.size());
    if (pending_.size() < k_longest_line) return;
    end_line();
    // What end_line() has handed on begins the next piece.
    pending_.erase(0, k_longest_line - k_line_overlap);
    fresh_ = !bytes.empty();
  }
}

void LineCutter::end_line() {
  if (fresh_) {
    if (pending_.find('\0') != std::string::npos) {
      std::string text = pending_;
      text.erase(std::remove(text.begin(), text.end(), '\0'), text.end());
      take_(number_, text);
    } else {
      take_(number_, pending_);
    }
  }
  fresh_ = false;
  if (pending_.size() < k_longest_line) pending_.clear();
}

void LineCutter::finish() {
  end_line();
  pending_.clear();
}

std::string_view without_escapes(std::string_view text, std::string& scratch) {
  constexpr char k_escape = '\x1b';
  if (text.find(k_escape) == std::string_view::npos) return text;
  scratch.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != k_escape) {
      scratch.push_back(text[i]);
      continue;
    }
    if (i + 1 >= text.size()) break;
    ++i;  // ESC and one byte, or a sequence up to its final byte
    if (text[i] == '[') {
      while (i + 1 < text.size() && (text[i + 1] < '@' || text[i + 1] > '~')) ++i;
      ++i;
    } else if (text[i] == ']') {
      while (i + 1 < text.size() && text[i] != '\a' && text[i] != k_escape) ++i;
    }
  }
  return scratch;
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string readable(std::string_view text, std::size_t longest) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const bool control = length > 0 && is_control_character(text.substr(0, length));
    const std::string_view shown = length == 0 ? "?" : control ? " " : text.substr(0, length);
    const bool space = shown == " ";
    if (out.size() + shown.size() > longest) return out + "...";
    if (!space || (!out.empty() && out.back() != ' ')) out.append(shown);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string readable_around(std::string_view text, std::size_t at) {
  constexpr std::size_t k_shown = 160;  // of a line, in a report
  constexpr std::size_t k_before = 50;
  if (text.size() <= k_shown || at <= k_shown / 2) return readable(text);
  const std::size_t space = text.find_first_of(" \t", at - k_before);
  const std::size_t begin = space == std::string_view::npos || space >= at ? at : space + 1;
  return "..." + readable(text.substr(begin));
}

}  // namespace shardlab
