#include "engine/formats/launchers/shell_commands.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <utility>

#include "engine/formats/launchers/batch_options.h"
#include "engine/formats/launchers/shell_arithmetic.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_words = 20'000;
constexpr std::size_t k_longest_word = 64 * 1024;
constexpr int k_most_defaults = 20;                         // of defaults in defaults
constexpr std::size_t k_most_text = std::size_t{16} << 20;  // of all words

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
      } else if (is_redirection()) {
        SHARDLAB_CHECK_OK(redirection());
      } else if (c == '\n' && !documents_.empty()) {
        take();
        read_documents();
        finish();
      } else if (c == '(' && begins_array()) {
        SHARDLAB_CHECK_OK(read_array());
      } else if (c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
        take();
        finish();
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        take();
      } else if (text_.substr(at_).starts_with("\\\n")) {
        take();
        take();
      } else {
        SHARDLAB_TRY(std::vector<ShellWord> words, read_words());
        for (ShellWord& word : words) add(std::move(word));
      }
    }
    if (is_too_long_) return too_long(place());
    finish();
    script_.variables = std::move(variables_);
    return std::move(script_);
  }

 private:
  struct HereDocument {
    std::string end;  // the word that ends it
    bool is_quoted;   // variables in it stay as they are written
    bool strips_tabs;
  };

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
    const std::size_t first = script_.batch.size();
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
    for (auto& [name, value] : batch_variables(std::span(script_.batch).subspan(first)))
      variables_[name] = std::move(value);
    while (at_ < text_.size() && text_[at_] != '\n') take();
    if (begin == at_) take();
  }

  // Digits and `<` or `>`, or `&>`.
  bool is_redirection() const {
    std::string_view rest = text_.substr(at_);
    if (rest.starts_with("&>")) return true;
    rest.remove_prefix(std::min(rest.find_first_not_of("0123456789"), rest.size()));
    return !rest.empty() && (rest.front() == '<' || rest.front() == '>');
  }

  // What stands behind the sign is no word of the command. `<<WORD` announces a here-document.
  Status redirection() {
    const bool is_plain = text_[at_] == '>';  // other descriptors than the standard output have numbers
    while (std::string_view("0123456789&").find(text_[at_]) != std::string_view::npos) take();
    std::string sign;
    while (at_ < text_.size() && std::string_view("<>&|-").find(text_[at_]) != std::string_view::npos)
      sign += take();
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) take();
    if (at_ >= text_.size() || std::string_view("\n;()").find(text_[at_]) != std::string_view::npos)
      return {};
    const bool is_quoted = text_[at_] == '\'' || text_[at_] == '"' || text_[at_] == '\\';
    SHARDLAB_TRY(std::vector<ShellWord> words, read_words());
    ShellWord word = words.empty() ? ShellWord{} : std::move(words.front());
    if (sign == "<<" || sign == "<<-")
      documents_.push_back({std::move(word.text), is_quoted, sign.ends_with('-')});
    else if (is_plain && !sign.ends_with('&'))
      output_ = std::move(word.text);
    return {};
  }

  // The here-documents that the line announced. One that goes into a file is kept under its name.
  void read_documents() {
    for (const HereDocument& each : documents_) {
      ShellWord body;
      body.place = place();
      while (at_ < text_.size() && !take_end_of(each)) read_document_line(each, body);
      if (!output_.empty()) script_.documents[shell_path(output_)] = std::move(body);
    }
    documents_.clear();
  }

  // Whether the line is the word that ends the document: then it is passed.
  bool take_end_of(const HereDocument& document) {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (document.strips_tabs) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    if (line != document.end) return false;
    while (at_ < end) take();
    if (at_ < text_.size()) take();
    return true;
  }

  void read_document_line(const HereDocument& document, ShellWord& body) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool escapes = !document.is_quoted && c == '\\' && at_ + 1 < text_.size() &&
                           std::string_view("$`\\").find(text_[at_ + 1]) != std::string_view::npos;
      if (escapes) take();
      if (!escapes && !document.is_quoted && (c == '$' || c == '`'))
        variable(body, Expansion::whole);
      else
        append_next(body);
      if (c == '\n') return;
    }
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

  // One word as it is written may be several: variables outside quotes are split, arrays are their words.
  Result<std::vector<ShellWord>> read_words() {
    pieces_.clear();
    bool is_quoted = false;
    ShellWord word;
    word.place = place();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (std::isspace(static_cast<unsigned char>(c)) != 0 ||
          std::string_view(";&|()<>").find(c) != std::string_view::npos)
        break;
      is_quoted = is_quoted || c == '\'' || c == '"';
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
        variable(word, is_setting(word) ? Expansion::whole : Expansion::split);
      } else {
        append_next(word);
      }
    }
    if (is_too_long_) return too_long(word.place);
    if (!word.text.empty() || is_quoted) pieces_.push_back(std::move(word));
    return std::move(pieces_);
  }

  // NAME= at the beginning of a command, whose value is one word.
  bool is_setting(const ShellWord& word) const {
    const std::size_t equals = word.text.find('=');
    return command_.words.empty() && equals != std::string::npos &&
           is_shell_name(setting_name(std::string_view(word.text).substr(0, equals)));
  }

  // `NAME+` of `NAME+=more` without its sign.
  static std::string_view setting_name(std::string_view name) {
    return name.ends_with('+') ? name.substr(0, name.size() - 1) : name;
  }

  // NAME=( ...: the parenthesis stands right behind the sign.
  bool begins_array() const {
    return command_.words.empty() && !command_.settings.empty() && at_ > 0 && text_[at_ - 1] == '=' &&
           command_.settings.back().second.text.empty();
  }

  Status read_array() {
    const Place begin = place();
    std::vector<ShellWord>& array = arrays_[command_.settings.back().first];
    if (at_ < 2 || text_[at_ - 2] != '+') array.clear();
    take();
    while (at_ < text_.size() && text_[at_] != ')') {
      if (words_ > k_most_words) return bad_input(begin, "too many words for a launch script");
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') take();
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0 ||
                 std::string_view(";&|(<>").find(c) != std::string_view::npos) {
        take();
      } else if (text_.substr(at_).starts_with("\\\n")) {
        take();
        take();
      } else {
        SHARDLAB_TRY(std::vector<ShellWord> words, read_words());
        words_ += words.size();
        for (ShellWord& word : words) array.push_back(std::move(word));
      }
    }
    if (at_ >= text_.size()) return bad_input(begin, "a parenthesis does not end");
    take();
    command_.settings.pop_back();
    return {};
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
        variable(word, Expansion::quoted);
      } else {
        append_next(word);
      }
    }
    if (at_ >= text_.size()) return bad_input(begin, "a quote does not end");
    take();
    return {};
  }

  // What becomes of a variable's value: in a word of its own, in quotes, in a value or a document.
  enum class Expansion : std::uint8_t { split, quoted, whole };

  // $NAME, ${NAME}, ${NAME:-default}: what the script set, else the default, else it stays open.
  void variable(ShellWord& word, Expansion expansion) {
    const std::size_t begin = at_;
    if (text_[at_] == '`') return command(word, '`', '`');
    take();
    if (text_.substr(at_).starts_with("((")) return arithmetic(word, begin);
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
    ShellWord fallback;
    bool has_fallback = false;
    bool is_more = false;  // an element of an array, a part of a text
    if (braces) {
      has_fallback = take_fallback_sign();
      read_fallback(fallback);
      is_more = !has_fallback && !fallback.text.empty();
    }
    const auto known = variables_.find(name);
    const auto array = arrays_.find(name);
    if (array != arrays_.end() && (fallback.text == "[@]" || fallback.text == "[*]")) {
      append_array(word, array->second, expansion);
    } else if (known != variables_.end() && !known->second.is_open && !is_more &&
               (!has_fallback || !known->second.text.empty())) {
      append_value(word, known->second.text, expansion);
    } else if (has_fallback && !fallback.is_open) {
      append_value(word, fallback.text, expansion);
    } else {
      append(word, text_.substr(begin, at_ - begin));
      word.is_open = true;
    }
  }

  bool take_fallback_sign() {
    for (const std::string_view sign : {":-", ":=", "-", "="}) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      at_ += sign.size();
      return true;
    }
    return false;
  }

  // To the brace that ends it, without quotes.
  void read_fallback(ShellWord& fallback) {
    if (depth_ > k_most_defaults) return;
    ++depth_;
    while (at_ < text_.size() && text_[at_] != '}' && text_[at_] != '\n') {
      if (text_[at_] == '$' || text_[at_] == '`')
        variable(fallback, Expansion::whole);
      else if (text_[at_] == '"' || text_[at_] == '\'')
        take();
      else
        append_next(fallback);
    }
    --depth_;
    if (at_ < text_.size() && text_[at_] == '}') take();
  }

  void append_value(ShellWord& word, const std::string& value, Expansion expansion) {
    if (expansion != Expansion::split) return append(word, value);
    std::size_t at = 0;
    while (at < value.size()) {
      const std::size_t end = std::min(value.find_first_of(" \t\n", at), value.size());
      append(word, std::string_view(value).substr(at, end - at));
      if (end < value.size()) next_piece(word);
      at = end + 1;
    }
  }

  void append_array(ShellWord& word, const std::vector<ShellWord>& array, Expansion expansion) {
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (i > 0 && expansion == Expansion::whole) append(word, " ");
      if (i > 0 && expansion != Expansion::whole) next_piece(word);
      append(word, array[i].text);
      word.is_open = word.is_open || array[i].is_open;
    }
  }

  void next_piece(ShellWord& word) {
    ShellWord next;
    next.place = word.place;
    if (!word.text.empty()) pieces_.push_back(std::move(word));
    word = std::move(next);
  }

  // $(( ... )) of numbers that the script says; else it stays open.
  void arithmetic(ShellWord& word, std::size_t begin) {
    const std::size_t end = text_.find("))", at_);
    if (end == std::string::npos) {
      append(word, "$");
      return command(word, '(', ')');
    }
    const auto value = shell_arithmetic(text_.substr(at_ + 2, end - at_ - 2), [&](std::string_view name) {
      const auto known = variables_.find(std::string(name));
      return known == variables_.end() || known->second.is_open ? std::string() : known->second.text;
    });
    while (at_ < end + 2) take();
    if (value) return append(word, std::to_string(*value));
    append(word, text_.substr(begin, at_ - begin));
    word.is_open = true;
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
    if (is_setting(word)) {
      const std::string_view written = std::string_view(word.text).substr(0, equals);
      const std::string name(setting_name(written));
      ShellWord value = word;
      value.text.clear();
      if (written.ends_with('+')) {
        append(value, variables_[name].text);
        value.is_open = value.is_open || variables_[name].is_open;
      }
      append(value, std::string_view(word.text).substr(equals + 1));
      command_.settings.emplace_back(name, std::move(value));
      return;
    }
    static constexpr std::string_view k_declaring[] = {"export", "local", "readonly", "declare"};
    const bool declares =
        std::find(std::begin(k_declaring), std::end(k_declaring), word.text) != std::end(k_declaring);
    if (command_.words.empty() && (declares || (is_declaring_ && word.text.starts_with('-')))) {
      is_declaring_ = true;
      return;
    }
    command_.words.push_back(std::move(word));
  }

  void finish() {
    if (command_.words.empty()) {
      for (const auto& [name, value] : command_.settings) variables_[name] = value;
    }
    if (!command_.words.empty() || !command_.settings.empty())
      script_.commands.push_back(std::move(command_));
    command_ = {};
    output_.clear();
    is_declaring_ = false;
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
  std::map<std::string, std::vector<ShellWord>> arrays_;
  std::vector<ShellWord> pieces_;        // of the word that is read, but for its last
  int depth_ = 0;                        // of defaults
  bool is_declaring_ = false;            // export, local ...
  std::vector<HereDocument> documents_;  // that the line announced
  std::string output_;                   // the file that the command writes
  ShellCommand command_;
  ShellScript script_;
};

}  // namespace

Result<ShellScript> parse_shell(std::string_view text, std::string_view name,
                                std::map<std::string, ShellWord> variables) {
  return ShellReader(text, name, std::move(variables)).read();
}

}  // namespace shardlab
