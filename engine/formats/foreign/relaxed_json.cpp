#include "engine/formats/foreign/relaxed_json.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/text/utf8.h"

namespace shardlab {
namespace {

constexpr int k_deepest = 50;
constexpr std::size_t k_most_values = 100'000;
constexpr std::string_view k_punctuation = "{}[],:";

// A cursor over the text that knows its line and column, in bytes from 1.
class JsonText {
 public:
  JsonText(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  bool done() const { return at_ >= text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }
  bool starts_with(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  std::size_t position() const { return at_; }
  int column() const { return static_cast<int>(at_ - line_start_) + 1; }
  std::string_view from(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
  Place place() const { return in_file(std::string(name_), line_, column()); }

  char take() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++line_;
      line_start_ = at_;
    }
    return c;
  }
  void skip(std::size_t count) {
    for (; count > 0 && !done(); --count) take();
  }
  void skip_line() {
    while (!done() && peek() != '\n') take();
  }

 private:
  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

class ForeignJsonReader {
 public:
  ForeignJsonReader(std::string_view text, std::string_view name, JsonForm form)
      : text_(text, name), human_(form == JsonForm::human) {}

  Result<ForeignValue> read() {
    SHARDLAB_CHECK_OK(skip_space());
    const bool open = human_ && text_.peek() != '{';
    SHARDLAB_TRY(ForeignValue root, open ? read_map(true) : read_value(0));
    SHARDLAB_CHECK_OK(skip_space());
    if (!text_.done()) return complain("something stands after the end of the map");
    return root;
  }

 private:
  tl::unexpected<Error> complain(std::string what, std::string hint = {}) const {
    return bad_input(text_.place(), "JSON syntax: " + std::move(what), std::move(hint));
  }

  Status skip_space() {
    while (!text_.done()) {
      if (std::string_view(" \t\r\n").find(text_.peek()) != std::string_view::npos) {
        text_.take();
      } else if (human_ && (text_.peek() == '#' || text_.starts_with("//"))) {
        text_.skip_line();
      } else if (human_ && text_.starts_with("/*")) {
        while (!text_.done() && !text_.starts_with("*/")) text_.take();
        if (text_.done()) return complain("a comment does not end");
        text_.skip(2);
      } else {
        break;
      }
    }
    return {};
  }

  Result<ForeignValue> read_value(int depth) {
    if (depth > k_deepest) return complain("values are nested too deeply");
    if (++values_ > k_most_values) return complain("too many values for a file of this kind");
    const Place place = text_.place();
    Result<ForeignValue> value = read_unplaced(depth);
    if (value) value->place = place;
    return value;
  }

  Result<ForeignValue> read_unplaced(int depth) {
    depth_ = depth;
    switch (text_.peek()) {
      case '{': text_.take(); return read_map(false);
      case '[': text_.take(); return read_list(depth);
      case '"':
      case '\'': {
        SHARDLAB_TRY(std::string text, read_quoted());
        return foreign_text(std::move(text), {});
      }
      default: return read_bare();
    }
  }

  // To its closing brace, or of the root without braces to the end of the text.
  Result<ForeignValue> read_map(bool open) {
    const int depth = open ? 0 : depth_;
    ForeignValue map = foreign_map(text_.place());
    std::set<std::string> keys;
    while (true) {
      SHARDLAB_CHECK_OK(skip_space());
      if (text_.done() && open) return map;
      if (text_.done()) return complain("a map does not end: '}' is missing");
      if (!open && text_.peek() == '}') break;
      SHARDLAB_CHECK_OK(read_entry(map, keys, depth));
      SHARDLAB_CHECK_OK(skip_space());
      SHARDLAB_CHECK_OK(pass_comma('}'));
    }
    text_.take();
    return map;
  }

  // After an entry: JSON wants a comma between two, and none before the end.
  Status pass_comma(char end) {
    if (text_.done()) return {};  // whoever reads the map or the list says that it does not end
    if (text_.peek() != ',')
      return human_ || text_.peek() == end ? Status()
                                           : Status(complain(fmt::format("',' or '{}' is missing", end)));
    const JsonText before = text_;
    text_.take();
    SHARDLAB_CHECK_OK(skip_space());
    if (human_ || text_.peek() != end) return {};
    text_ = before;
    return complain(fmt::format("a comma stands before '{}'", end));
  }

  Status read_entry(ForeignValue& map, std::set<std::string>& keys, int depth) {
    const Place place = text_.place();
    SHARDLAB_TRY(std::string key, read_key());
    if (!keys.insert(key).second) {
      const auto first = std::find_if(map.entries.begin(), map.entries.end(),
                                      [&](const ForeignEntry& entry) { return entry.key == key; });
      return bad_input(place, fmt::format("duplicate key '{}'", key),
                       "first given at " + to_string(first->place));
    }
    SHARDLAB_CHECK_OK(skip_space());
    if (text_.peek() != ':') return complain(fmt::format("':' is missing after '{}'", key));
    text_.take();
    SHARDLAB_CHECK_OK(skip_space());
    SHARDLAB_TRY(ForeignValue value, read_value(depth + 1));
    map.entries.push_back({std::move(key), place, std::move(value)});
    return {};
  }

  Result<std::string> read_key() {
    if (text_.peek() == '"' || (human_ && text_.peek() == '\'')) return read_quoted();
    if (!human_) return complain("a key stands in double quotes");
    const std::size_t begin = text_.position();
    while (!text_.done() && static_cast<unsigned char>(text_.peek()) > ' ' &&
           k_punctuation.find(text_.peek()) == std::string_view::npos)
      text_.take();
    if (text_.position() == begin) return complain("a key is missing");
    return std::string(text_.from(begin));
  }

  Result<ForeignValue> read_list(int depth) {
    ForeignValue list;
    list.kind = ForeignValue::Kind::list;
    while (true) {
      SHARDLAB_CHECK_OK(skip_space());
      if (text_.done()) return complain("a list does not end: ']' is missing");
      if (text_.peek() == ']') break;
      SHARDLAB_TRY(ForeignValue item, read_value(depth + 1));
      list.items.push_back(std::move(item));
      SHARDLAB_CHECK_OK(skip_space());
      SHARDLAB_CHECK_OK(pass_comma(']'));
    }
    text_.take();
    return list;
  }

  Result<std::string> read_quoted() {
    const char quote = text_.peek();
    if (!human_ && quote == '\'') return complain("texts stand in double quotes");
    if (human_ && text_.starts_with("'''")) return read_lines();
    const std::size_t begin = text_.position();
    text_.take();
    while (!text_.done() && text_.peek() != quote) {
      if (text_.peek() == '\n') return complain("a text does not end in its line");
      if (text_.take() == '\\' && !text_.done()) text_.take();
    }
    if (text_.done()) return complain("a text does not end");
    text_.take();
    std::string_view inside = text_.from(begin);
    inside.remove_prefix(1);
    inside.remove_suffix(1);
    return unescaped(inside, quote);
  }

  // The library decodes escapes.
  Result<std::string> unescaped(std::string_view inside, char quote) const {
    std::string quoted = "\"";
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const bool is_escaped_quote = inside[i] == '\\' && i + 1 < inside.size() && inside[i + 1] == '\'';
      if (is_escaped_quote && quote == '\'') continue;
      if (inside[i] == '"' && quote == '\'' && (i == 0 || inside[i - 1] != '\\')) quoted += '\\';
      quoted += inside[i];
    }
    const auto decoded = nlohmann::json::parse(quoted + "\"", nullptr, false);
    if (!decoded.is_string())
      return complain("a text has an escape that there is not, or a control character");
    return decoded.get<std::string>();
  }

  // Between ''' and ''', without the indentation of the opening.
  Result<std::string> read_lines() {
    const int indent = text_.column() - 1;
    text_.skip(3);
    std::string text;
    while (!text_.done() && !text_.starts_with("'''")) {
      const char c = text_.take();
      if (c != '\r') text += c;
      for (int i = 0; c == '\n' && i < indent && (text_.peek() == ' ' || text_.peek() == '\t'); ++i)
        text_.take();
    }
    if (text_.done()) return complain("a text does not end: ''' is missing");
    text_.skip(3);
    if (text.starts_with('\n')) text.erase(0, 1);
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }

  // A word of JSON, or in the human form a text to the end of the line.
  Result<ForeignValue> read_bare() {
    if (text_.done() || k_punctuation.find(text_.peek()) != std::string_view::npos)
      return complain("a value is missing");
    const std::size_t begin = text_.position();
    while (!text_.done() && std::string_view(",}] \t\r\n#").find(text_.peek()) == std::string_view::npos &&
           !(human_ && (text_.starts_with("//") || text_.starts_with("/*"))))
      text_.take();
    const std::string word(text_.from(begin));
    if (auto value = json_scalar(word); value && (!human_ || ends_a_value())) return *std::move(value);
    static constexpr std::string_view k_infinite = "Infinity";  // of Python's json
    if (k_infinite.compare(word) == 0) return foreign_text(word, {});
    if (!human_)
      return complain(fmt::format("'{}' is no value", whole_characters(word, 40)),
                      "texts stand in double quotes, truth is true or false");
    while (!text_.done() && text_.peek() != '\n') text_.take();
    std::string line(text_.from(begin));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    return foreign_text(std::move(line), {});
  }

  bool ends_a_value() const {
    JsonText rest = text_;
    while (!rest.done() && (rest.peek() == ' ' || rest.peek() == '\t' || rest.peek() == '\r')) rest.take();
    return rest.done() || std::string_view("\n,}]#").find(rest.peek()) != std::string_view::npos ||
           rest.starts_with("//") || rest.starts_with("/*");
  }

  JsonText text_;
  bool human_;
  int depth_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

Result<ForeignValue> parse_foreign_json(std::string_view text, std::string_view name, JsonForm form) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  SHARDLAB_TRY(ForeignValue root, ForeignJsonReader(text, name, form).read());
  if (!root.is_map()) return bad_input(root.place, fmt::format("is {}, not a map", describe(root.kind)));
  return root;
}

}  // namespace shardlab
