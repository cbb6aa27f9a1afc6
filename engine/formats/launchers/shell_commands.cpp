#include "engine/formats/launchers/shell_commands.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace shardlab {
namespace {

constexpr std::size_t k_most_words = 20'000;
constexpr std::size_t k_longest_word = 64 * 1024;
constexpr std::size_t k_most_text = std::size_t{16} << 20;  // of all words

bool is_name(std::string_view text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), fits);
}

class ShellReader {
 public:
  ShellReader(std::string_view text, std::string_view name, std::map<std::string, ShellWord> variables)
      : text_(text), name_(name), variables_(std::move(variables)) {}

  Result<ShellScript> read() {
    while (at_ < text_.size()) {
      if (words_ > k_most_words) return bad_input(place(), "too many words for a launch script");
      const char c = text_[at_];
      if (c == '#') {
        comment();
      } else if (c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
        take();
        finish();
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        take();
      } else if (text_.substr(at_).starts_with("\\\n")) {
        take();
        take();
      } else {
        SHARDLAB_TRY(ShellWord word, read_word());
        add(std::move(word));
      }
    }
    if (is_too_long_) return too_long(place());
    finish();
    script_.variables = std::move(variables_);
    return std::move(script_);
  }

 private:
  Place place() const { return in_file(std::string(name_), line_, static_cast<int>(at_ - line_start_) + 1); }

  char take() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++line_;
      line_start_ = at_;
    }
    return c;
  }

  void comment() {
    const std::size_t begin = at_;
    static constexpr std::string_view k_batch = "#SBATCH";
    const bool is_batch = text_.substr(at_).starts_with(k_batch);
    if (is_batch) {
      at_ += k_batch.size();
      while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '#') {
        if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
          take();
          continue;
        }
        ShellWord word;
        word.place = place();
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) == 0)
          append_next(word);
        script_.batch.push_back(std::move(word));
        if (++words_ > k_most_words) break;
      }
    }
    while (at_ < text_.size() && text_[at_] != '\n') take();
    if (begin == at_) take();
  }

  static tl::unexpected<Error> too_long(Place where) {
    return bad_input(std::move(where), "is longer than any word of a launch script");
  }

  // The only place where a word grows: `A="$A$A"` doubles one line by line. What is longer than any word of a
  // launch script is dropped, and read_word() says so.
  void append(ShellWord& word, std::string_view more) {
    if (word.text.size() + more.size() > k_longest_word || total_ + more.size() > k_most_text) {
      is_too_long_ = true;
      return;
    }
    total_ += more.size();
    word.text += more;
  }
  void append_next(ShellWord& word) {
    const char next = take();
    append(word, {&next, 1});
  }

  Result<ShellWord> read_word() {
    ShellWord word;
    word.place = place();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (std::isspace(static_cast<unsigned char>(c)) != 0 ||
          std::string_view(";&|()").find(c) != std::string_view::npos)
        break;
      if (c == '\'') {
        SHARDLAB_CHECK_OK(single_quotes(word));
      } else if (c == '"') {
        SHARDLAB_CHECK_OK(double_quotes(word));
      } else if (c == '\\') {
        take();
        if (at_ < text_.size() && text_[at_] != '\n') {
          append_next(word);
        } else {
          if (at_ < text_.size()) take();
          break;
        }
      } else if (c == '$' || c == '`') {
        variable(word);
      } else {
        append_next(word);
      }
    }
    if (is_too_long_) return too_long(word.place);
    return word;
  }

  Status single_quotes(ShellWord& word) {
    const Place begin = place();
    take();
    while (at_ < text_.size() && text_[at_] != '\'') append_next(word);
    if (at_ >= text_.size()) return bad_input(begin, "a quote does not end");
    take();
    return {};
  }

  Status double_quotes(ShellWord& word) {
    const Place begin = place();
    take();
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() &&
          std::string_view("\"\\$`\n").find(text_[at_ + 1]) != std::string_view::npos) {
        take();
        const char c = take();
        if (c != '\n') append(word, {&c, 1});
      } else if (text_[at_] == '$' || text_[at_] == '`') {
        variable(word);
      } else {
        append_next(word);
      }
    }
    if (at_ >= text_.size()) return bad_input(begin, "a quote does not end");
    take();
    return {};
  }

  // $NAME, ${NAME}, ${NAME:-default}: what the script set, else the default, else it stays open.
  void variable(ShellWord& word) {
    const std::size_t begin = at_;
    if (text_[at_] == '`') return command(word, '`', '`');
    take();
    if (at_ < text_.size() && text_[at_] == '(') {
      append(word, "$");
      return command(word, '(', ')');
    }
    const bool braces = at_ < text_.size() && text_[at_] == '{';
    if (braces) take();
    std::string name;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      name += take();
    std::string fallback;
    bool has_fallback = false;
    bool is_more = false;  // an element of an array, a part of a text
    if (braces) {
      if (text_.substr(at_).starts_with(":-") || text_.substr(at_).starts_with(":=")) {
        has_fallback = true;
        at_ += 2;
      }
      while (at_ < text_.size() && text_[at_] != '}' && text_[at_] != '\n') fallback += take();
      is_more = !has_fallback && !fallback.empty();
      if (at_ < text_.size() && text_[at_] == '}') take();
    }
    const auto known = variables_.find(name);
    if (known != variables_.end() && !known->second.is_open && !is_more) {
      append(word, known->second.text);
    } else if (has_fallback && fallback.find('$') == std::string::npos) {
      append(word, fallback);
    } else {
      append(word, text_.substr(begin, at_ - begin));
      word.is_open = true;
    }
  }

  void command(ShellWord& word, char open, char close) {
    word.is_open = true;
    int depth = 0;
    do {
      const char c = take();
      if (c == open && (open != close || depth == 0))
        ++depth;
      else if (c == close)
        --depth;
      append(word, {&c, 1});
    } while (at_ < text_.size() && depth > 0);
  }

  void add(ShellWord word) {
    ++words_;
    const std::size_t equals = word.text.find('=');
    if (command_.words.empty() && equals != std::string::npos &&
        is_name(std::string_view(word.text).substr(0, equals))) {
      ShellWord value = word;
      value.text = word.text.substr(equals + 1);
      command_.settings.emplace_back(word.text.substr(0, equals), std::move(value));
      return;
    }
    static constexpr std::string_view k_export = "export";
    if (command_.words.empty() && k_export.compare(word.text) == 0) return;
    command_.words.push_back(std::move(word));
  }

  void finish() {
    if (command_.words.empty()) {
      for (const auto& [name, value] : command_.settings) variables_[name] = value;
    }
    if (!command_.words.empty() || !command_.settings.empty())
      script_.commands.push_back(std::move(command_));
    command_ = {};
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  std::size_t words_ = 0;
  std::size_t total_ = 0;  // bytes of all words
  bool is_too_long_ = false;
  std::map<std::string, ShellWord> variables_;
  ShellCommand command_;
  ShellScript script_;
};

}  // namespace

Result<ShellScript> parse_shell(std::string_view text, std::string_view name,
                                std::map<std::string, ShellWord> variables) {
  return ShellReader(text, name, std::move(variables)).read();
}

std::string with_commands(std::string text, const std::map<std::string, ShellWord>& variables) {
  constexpr int k_most_rounds = 4;
  std::set<std::string> used;  // a variable may hold its own name
  for (int round = 0; round < k_most_rounds; ++round) {
    bool changed = false;
    for (const auto& [name, value] : variables) {
      if (value.text.find(' ') == std::string::npos || value.text.starts_with("$(")) continue;
      for (const std::string& written : {"${" + name + "}", "$" + name}) {
        const std::size_t at = text.find(written);
        if (at == std::string::npos || text.size() + value.text.size() > k_longest_word) continue;
        const std::size_t end = at + written.size();
        const bool goes_on = end < text.size() &&
                             (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_');
        if (goes_on && written.back() != '}') continue;
        if (!used.insert(name).second) break;
        text.replace(at, written.size(), value.text);
        changed = true;
      }
    }
    if (!changed) break;
  }
  return text;
}

bool is_launch_script(std::string_view text) {
  if (text.starts_with("#!")) return true;
  static constexpr std::string_view k_starts[] = {"torchrun ",
                                                  "srun ",
                                                  "accelerate launch",
                                                  "deepspeed ",
                                                  "exec torchrun",
                                                  "python -m torch.distributed",
                                                  "python3 -m torch.distributed",
                                                  "#SBATCH"};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    for (const std::string_view start : k_starts) {
      if (line.starts_with(start)) return true;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace shardlab
