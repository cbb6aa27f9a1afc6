// Kinds of values in a scenario: how one is read from YAML, checked, written back and described.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/base/words.h"
#include "engine/base/yaml.h"

namespace shardlab {

// What may be written: a text for the reference, and what a form needs to know of it.
struct AllowedValues {
  std::string text;                   // may be empty
  std::vector<std::string> words;     // that may be written
  bool only_words = false;            // nothing but the words
  std::optional<std::int64_t> least;  // of an integer

  AllowedValues() = default;
  AllowedValues(std::string shown) : text(std::move(shown)) {}  // NOLINT(google-explicit-constructor)
  AllowedValues(const char* shown) : text(shown) {}             // NOLINT(google-explicit-constructor)

  // More than that, as text says: ", or a list of shares".
  AllowedValues& operator+=(std::string_view more) {
    text += more;
    only_words = false;
    return *this;
  }
  friend AllowedValues operator+(AllowedValues values, std::string_view more) { return values += more; }
};

template <typename V>
struct Kind {
  using Value = V;
  std::string type;  // "integer", "size", ... for the reference
  AllowedValues values;
  // `name` is the last part of the key. An error without a place is about the whole node.
  std::function<Result<V>(const YamlNode& node, std::string_view name)> read;
  std::function<YamlNode(const V&)> write;
};

namespace kind {

constexpr std::int64_t k_no_limit = std::numeric_limits<std::int64_t>::max();

Kind<std::string> text();
// One of the names; `unknown <name> 'x'` otherwise.
Kind<std::string> word(std::vector<std::string> names);
Kind<bool> boolean();
Kind<std::int64_t> long_integer(std::int64_t least, std::int64_t most = k_no_limit);
Kind<int> integer(int least, int most = std::numeric_limits<int>::max());
// least <= x <= most; with `open` the bounds themselves are excluded.
Kind<double> number(double least, double most = std::numeric_limits<double>::infinity(), bool open = false);
Kind<double> fraction(double least, double most);
Kind<Bytes> size();
Kind<BytesPerSecond> rate();
Kind<Nanoseconds> duration();
Kind<DType> dtype(std::vector<DType> allowed);
// A scalar stands for a list of one.
Kind<std::vector<std::string>> texts();
Kind<std::vector<std::vector<std::string>>> text_lists();
Kind<std::vector<std::string>> words(std::vector<std::string> names);
Kind<std::map<std::string, std::string>> text_map();
// Numbers, words, lists and maps, kept as JSON text by key. With `names`, other keys are errors.
Kind<std::map<std::string, std::string>> json_map(std::vector<std::string> names = {});

// The value, or none when it is null or the word none.
template <typename V>
Kind<std::optional<V>> optional(Kind<V> inner) {
  Kind<std::optional<V>> outer;
  outer.type = inner.type;
  outer.values = inner.values;
  outer.read = [inner](const YamlNode& node, std::string_view name) -> Result<std::optional<V>> {
    if (node.is_null() || (node.is_scalar() && !node.quoted && node.text == "none"))
      return std::optional<V>();
    SHARDLAB_TRY(V value, inner.read(node, name));
    return std::optional<V>(std::move(value));
  };
  outer.write = [inner](const std::optional<V>& value) { return value ? inner.write(*value) : YamlNode(); };
  return outer;
}

// A word of the enumeration's table; with `allowed`, one of these only.
template <WordEnum E>
Kind<E> word(std::initializer_list<E> allowed = {}) {
  const Kind<std::string> names = word(allowed.size() == 0 ? all_words<E>() : words_of<E>(allowed));
  return {names.type, names.values,
          [names](const YamlNode& node, std::string_view name) -> Result<E> {
            SHARDLAB_TRY(const std::string text, names.read(node, name));
            return *parse_word<E>(text);
          },
          [](const E& value) { return yaml_scalar(std::string(to_string(value))); }};
}

// The same for a key that may be left out; there is no word for that.
template <WordEnum E>
Kind<std::optional<E>> word_or_absent(std::initializer_list<E> allowed = {}) {
  const Kind<E> given = word<E>(allowed);
  return {given.type, given.values,
          [given](const YamlNode& node, std::string_view name) -> Result<std::optional<E>> {
            SHARDLAB_TRY(const E value, given.read(node, name));
            return std::optional<E>(value);
          },
          [given](const std::optional<E>& value) { return value ? given.write(*value) : YamlNode(); }};
}

// The text of a scalar; an error for lists, maps and nothing.
Result<std::string> scalar_text(const YamlNode& node);
// The same, for what may not stand in quotes (numbers, true and false).
Result<std::string> bare_text(const YamlNode& node, std::string_view expected);
// bad_input "unknown <name> 'text'" with the nearest of the names.
tl::unexpected<Error> unknown_word(std::string_view name, std::string_view text,
                                   const std::vector<std::string>& names);
// "a, b, c".
std::string joined(const std::vector<std::string>& names);
// These words and no others.
AllowedValues only(std::vector<std::string> words);

}  // namespace kind
}  // namespace shardlab
