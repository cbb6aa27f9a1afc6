#include "engine/doctor/program/read_program.h"

#include <cctype>
#include <utility>

#include "engine/doctor/log/line_words.h"

namespace shardlab {
namespace {

// A statement while it is read.
struct Statement {
  std::int64_t number = 0;
  std::size_t indent = 0;
  std::string text;
  int depth = 0;          // of brackets
  bool is_apart = false;  // blanks have been passed over
};

class ProgramReader {
 public:
  explicit ProgramReader(std::string_view text) : text_(text) {}

  std::vector<ProgramLine> lines() {
    while (at_ < text_.size()) read_one();
    end_statement();
    return std::move(lines_);
  }

 private:
  void read_one() {
    const char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == '"' || c == '\'') {
      read_string();
    } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
      at_ += 2;
      ++number_;
    } else if (c == '\n') {
      read_line_end();
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (statement_.text.empty()) statement_.indent += c == '\t' ? 8 : 1;
      statement_.is_apart = true;
      ++at_;
    } else {
      read_character(c);
    }
  }

  void read_line_end() {
    ++at_;
    ++number_;
    if (statement_.depth > 0 && !statement_.text.empty())
      statement_.is_apart = true;
    else
      end_statement();
  }

  void read_character(char c) {
    begin_if_empty();
    // A blank counts where it parts two words.
    if (statement_.is_apart && !statement_.text.empty() && continues_word(statement_.text.back()) &&
        continues_word(c))
      statement_.text += ' ';
    statement_.is_apart = false;
    if (c == '(' || c == '[' || c == '{') ++statement_.depth;
    if ((c == ')' || c == ']' || c == '}') && statement_.depth > 0) --statement_.depth;
    statement_.text += c;
    ++at_;
  }

  void begin_if_empty() {
    if (statement_.text.empty()) statement_.number = number_;
  }

  // To its end, or where it has none to the end of its line, or of the text where it may have several.
  void read_string() {
    const std::string_view rest = text_.substr(at_);
    const bool is_long = rest.starts_with("\"\"\"") || rest.starts_with("'''");
    const std::string_view quote = rest.substr(0, is_long ? 3 : 1);
    std::size_t end = quote.size();
    while (end < rest.size() && !rest.substr(end).starts_with(quote)) {
      if (rest[end] == '\n' && !is_long) break;
      end += rest[end] == '\\' && end + 1 < rest.size() && rest[end + 1] != '\n' ? 2 : 1;
    }
    if (end < rest.size() && rest[end] != '\n') end += quote.size();
    end = std::min(end, rest.size());
    begin_if_empty();
    statement_.text += rest.substr(0, end);
    statement_.is_apart = false;
    for (const char c : rest.substr(0, end)) number_ += c == '\n' ? 1 : 0;
    at_ += end;
  }

  void end_statement() {
    Statement ended = std::exchange(statement_, {});
    if (ended.text.empty()) return;
    while (!functions_.empty() && functions_.back().second >= ended.indent) functions_.pop_back();
    const bool stands_alone = ended.text.front() == '"' || ended.text.front() == '\'';
    if (!stands_alone)
      lines_.push_back({ended.number, ended.text, functions_.empty() ? 0 : functions_.back().first});
    if (ended.text.starts_with("def ") || ended.text.starts_with("async def "))
      functions_.emplace_back(ended.number, ended.indent);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t number_ = 1;
  Statement statement_;
  std::vector<std::pair<std::int64_t, std::size_t>> functions_;  // lines of `def` and their indents
  std::vector<ProgramLine> lines_;
};

}  // namespace

ProgramFile read_program(std::string_view text, const std::string& source) {
  return {source, ProgramReader(text).lines()};
}

}  // namespace shardlab
