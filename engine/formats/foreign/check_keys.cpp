#include "engine/formats/foreign/check_keys.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"

namespace shardlab {
namespace {

using TypeKind = KnownType::Kind;

bool is_in_range(const KnownType& type, double value) {
  return (!type.least || value >= *type.least) && (!type.most || value <= *type.most);
}

bool same_word(const std::string& word, const std::string& text, bool folded) {
  return folded ? in_lower_case(word) == in_lower_case(text) : word == text;
}

const std::string* word_of(const KnownType& type, const ForeignValue& value, bool folded) {
  const auto found = std::find_if(type.words.begin(), type.words.end(), [&](const std::string& word) {
    return same_word(word, value.text, folded || type.folded);
  });
  return value.is_text() && found != type.words.end() ? &*found : nullptr;
}

bool fits(const KnownType& type, const ForeignValue& value, bool folded) {
  switch (type.kind) {
    case TypeKind::boolean: return value.kind == ForeignValue::Kind::boolean;
    case TypeKind::integer: return value.is_integer() && is_in_range(type, value.number);
    case TypeKind::number: return value.is_number() && is_in_range(type, value.number);
    case TypeKind::text: return value.is_text();
    case TypeKind::list: return value.is_list();
    case TypeKind::section:
    case TypeKind::map: return value.is_map();
    case TypeKind::word: return word_of(type, value, folded) != nullptr;
    case TypeKind::any: return true;
    case TypeKind::null: return value.is_null();
    case TypeKind::flag: return value.kind == ForeignValue::Kind::boolean;
  }
  return false;
}

bool has_type(const KnownKey& key, std::initializer_list<TypeKind> kinds) {
  return std::any_of(key.types.begin(), key.types.end(), [&](const KnownType& type) {
    return std::find(kinds.begin(), kinds.end(), type.kind) != kinds.end();
  });
}

// The number that a text was meant as, where the key takes one.
std::optional<double> number_as_text(const KnownKey& key, const ForeignValue& value) {
  if (!value.is_text() || value.text.empty() || !has_type(key, {TypeKind::integer, TypeKind::number}))
    return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(value.text.c_str(), &end);
  return *end == '\0' && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// What YAML 1.1 or quotes made of a value that was meant otherwise.
std::string meant(const KnownKey& key, const ForeignValue& value) {
  if (const auto number = number_as_text(key, value))
    return fmt::format("'{}' is text here: write {}", value.text, yaml_number(value.text, *number));
  if (value.is_text() && has_type(key, {TypeKind::boolean})) return "true or false, without quotes";
  if (value.kind == ForeignValue::Kind::boolean && has_type(key, {TypeKind::word, TypeKind::text}) &&
      !json_scalar(value.text))
    return fmt::format("YAML reads {0} without quotes as {1}: write '{0}' in quotes", value.text,
                       value.flag ? "true" : "false");
  return {};
}

std::vector<std::string> words_of_key(const KnownKey& key) {
  std::vector<std::string> words;
  for (const KnownType& type : key.types) words.insert(words.end(), type.words.begin(), type.words.end());
  return words;
}

class KeyChecker {
 public:
  KeyChecker(const KnownKeys& tool, Problems& problems) : tool_(tool), problems_(problems) {}

  ForeignValue check_map(const ForeignValue& map, const KnownSection& section, const std::string& path) {
    ForeignValue checked = foreign_map(map.place);
    for (const ForeignEntry& entry : map.entries) {
      const std::optional<std::string> name = name_of(entry, section);
      if (!name) continue;
      if (const ForeignEntry* const first = same_key(map, entry, *name, section)) {
        problems_.add(entry.place, fmt::format("'{}' and '{}' are the same key", first->key, entry.key),
                      "first given at " + to_string(first->place));
        continue;
      }
      ForeignValue value = check_value(entry, *section.find(*name), section, path + *name);
      if (keeps_) checked.entries.push_back({*name, entry.place, std::move(value)});
    }
    return checked;
  }

  std::vector<ForeignWarning> warnings;

 private:
  // The tool's own name for the key; nothing, with a complaint, where there is none.
  std::optional<std::string> name_of(const ForeignEntry& entry, const KnownSection& section) {
    const std::string name = plain_name(entry.key, section);
    static constexpr std::string_view k_reference = "$ref";
    if (k_reference.compare(entry.key) == 0) {
      problems_.add(entry.place, fmt::format("{} {} follows no $ref", tool_.tool, tool_.version),
                    "put what stands there in its place", ErrorCode::unread_key);
      return std::nullopt;
    }
    if (const auto removed = section.removed.find(name); removed != section.removed.end()) {
      problems_.add(entry.place, fmt::format("key '{}': {}", entry.key, removed->second), {},
                    ErrorCode::unknown_key);
      return std::nullopt;
    }
    if (section.find(name) != nullptr) return name;
    if (section.lenient && !is_slip(entry.key, name, section))
      warn_of_unread(entry, name, section);
    else
      add_unknown_key(problems_, entry.place, tool_, section, entry.key);
    return std::nullopt;
  }

  // JSON has no comments, and people write keys for them.
  static bool is_comment(const std::string& key) {
    return key.starts_with('_') || key.find("comment") != std::string::npos;
  }

  // Nearly a name that the tool knows, and none that people write for another reason.
  static bool is_slip(const std::string& key, const std::string& name, const KnownSection& section) {
    if (section.unread.contains(name) || is_comment(key)) return false;
    return nearest_name(key, names_as_written(key, section)).has_value();
  }

  // The tool ignores it without a word.
  void warn_of_unread(const ForeignEntry& entry, const std::string& name, const KnownSection& section) {
    const auto known = section.unread.find(name);
    std::string hint = known != section.unread.end() ? known->second : std::string();
    if (hint.empty()) hint = home_of(name, section);
    warnings.push_back(
        {entry.place,
         fmt::format("{}{} {} does not read '{}'", section.name == "root" ? "" : section.name + ": ",
                     tool_.tool, tool_.version, entry.key),
         hint.empty() ? "nothing of it is in effect" : hint,
         is_comment(entry.key) ? ErrorCode::none : ErrorCode::unread_key});
  }

  // "it is a key of zero_optimization"; empty: the tool has no such key anywhere.
  std::string home_of(const std::string& name, const KnownSection& section) const {
    static constexpr std::string_view k_launch = "launch", k_auto = "auto";
    for (const auto& [title, other] : tool_.sections) {
      if (title == section.name || title == k_launch || title == k_auto) continue;
      if (other.find(name) != nullptr) return "it is a key of " + title;
    }
    return {};
  }

 public:
  static std::string plain_name(const std::string& key, const KnownSection& section) {
    if (const auto alias = section.aliases.find(key); alias != section.aliases.end()) return alias->second;
    if (section.prefix.empty()) return key;
    if (section.prefix_is_ours && !key.starts_with(section.prefix)) return section.prefix + key;
    if (!section.prefix_is_ours && key.starts_with(section.prefix)) return key.substr(section.prefix.size());
    return key;
  }

  // Known names, as the key writes them: with the prefix or without.
  static std::vector<std::string> names_as_written(const std::string& key, const KnownSection& section) {
    std::vector<std::string> names = section.names();
    if (!section.prefix_is_ours || key.starts_with(section.prefix)) return names;
    for (std::string& known : names) known = known.substr(std::min(known.size(), section.prefix.size()));
    return names;
  }

 private:
  // An entry before this one that means the same key.
  const ForeignEntry* same_key(const ForeignValue& map, const ForeignEntry& entry, const std::string& name,
                               const KnownSection& section) const {
    for (const ForeignEntry& other : map.entries) {
      if (&other == &entry) break;
      if (plain_name(other.key, section) == name) return &other;
    }
    return nullptr;
  }

  ForeignValue check_value(const ForeignEntry& entry, const KnownKey& key, const KnownSection& section,
                           const std::string& path) {
    keeps_ = true;
    ForeignValue value = entry.value;
    if (is_auto(value, key, section, path)) return value;
    convert(value, key, section, path);
    for (const KnownType& type : key.types) {
      if (!fits(type, value, section.folded)) continue;
      if (type.kind == TypeKind::section) {
        ForeignValue inner = check_map(value, tool_.section(type.section), path + ".");
        keeps_ = true;
        return inner;
      }
      if (const std::string* const word = word_of(type, value, section.folded)) value.text = *word;
      return value;
    }
    complain(entry, key);
    return value;
  }

  // Sections that pydantic reads, or that go through the environment, take "true" and 1 for true, "8" for 8.
  void convert(ForeignValue& value, const KnownKey& key, const KnownSection& section,
               const std::string& path) {
    const bool fits_as_it_is = std::any_of(key.types.begin(), key.types.end(), [&](const KnownType& type) {
      return fits(type, value, section.folded);
    });
    if (!key.converts || fits_as_it_is) return;
    auto made = has_type(key, {TypeKind::boolean}) ? boolean_of(value) : number_of(value, key);
    if (!made) return;
    made->place = value.place;
    warnings.push_back({value.place, fmt::format("{}: {} is taken for {}", path, shown(value), shown(*made)),
                        fmt::format("write {}{}", shown(*made), value.is_text() ? ", without quotes" : "")});
    value = *std::move(made);
  }

  // Source: pydantic 2, its conversions of strings and integers; accelerate 1.15.0, str_to_bool.
  static std::optional<ForeignValue> boolean_of(const ForeignValue& value) {
    static constexpr std::pair<std::string_view, bool> k_words[] = {
        {"true", true},   {"t", true},  {"yes", true}, {"y", true},  {"on", true},   {"1", true},
        {"false", false}, {"f", false}, {"no", false}, {"n", false}, {"off", false}, {"0", false}};
    if (!value.is_text() && !value.is_integer()) return std::nullopt;
    for (const auto& [word, flag] : k_words) {
      if (in_lower_case(value.text) == word) return json_scalar(flag ? "true" : "false");
    }
    return std::nullopt;
  }
  // int("5e8") is an error, float("5e8") is none.
  static std::optional<ForeignValue> number_of(const ForeignValue& value, const KnownKey& key) {
    auto made = value.is_text() ? json_scalar(value.text) : std::nullopt;
    const bool is_whole = made && made->kind == ForeignValue::Kind::integer;
    return is_whole || has_type(key, {TypeKind::number}) ? made : std::nullopt;
  }

  // "auto" where it stands for a value that somebody fills in, or for the default.
  bool is_auto(const ForeignValue& value, const KnownKey& key, const KnownSection& section,
               const std::string& path) {
    static constexpr std::string_view k_auto = "auto";
    if (!value.is_text() || value.text != k_auto || has_type(key, {TypeKind::any, TypeKind::text}))
      return false;
    if (tool_.section(k_auto).find(path) != nullptr) return true;
    if (!section.drops_auto) return false;
    keeps_ = false;
    warnings.push_back({value.place, fmt::format("{}: nobody fills in \"auto\" here", path),
                        "DeepSpeed drops it, its default holds", ErrorCode::no_effect});
    return true;
  }

  void complain(const ForeignEntry& entry, const KnownKey& key) {
    const ForeignValue& value = entry.value;
    std::string hint = meant(key, value);
    if (hint.empty() && value.is_text() && has_type(key, {TypeKind::word})) {
      if (const auto near = nearest_name(value.text, words_of_key(key)))
        hint = fmt::format("did you mean '{}'?", *near);
    }
    problems_.add(value.place, fmt::format("{}: {} is not {}", entry.key, shown(value), expected(key)), hint,
                  number_as_text(key, value) ? ErrorCode::number_is_text : ErrorCode::none);
  }

  const KnownKeys& tool_;
  Problems& problems_;
  bool keeps_ = true;
};

}  // namespace

std::string yaml_number(const std::string& text, double number) {
  if (number >= 1 && number < 1e15 && std::floor(number) == number) return fmt::format("{:.0f}", number);
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent == std::string::npos) return text;
  std::string mantissa = text.substr(0, exponent);
  if (mantissa.find('.') == std::string::npos) mantissa += ".0";
  const bool has_sign =
      exponent + 1 < text.size() && (text[exponent + 1] == '-' || text[exponent + 1] == '+');
  return mantissa + (has_sign ? "e" : "e+") + text.substr(exponent + 1);
}

void add_unknown_key(Problems& problems, const Place& place, const KnownKeys& tool,
                     const KnownSection& section, const std::string& key) {
  const std::string where = section.name == "root" ? "" : section.name + ": ";
  const std::string name = KeyChecker::plain_name(key, section);
  const auto unread = section.unread.find(name);
  if (unread != section.unread.end()) {
    problems.add(place, fmt::format("{}{} {} does not read '{}'", where, tool.tool, tool.version, key),
                 unread->second, ErrorCode::unread_key);
    return;
  }
  const auto near = nearest_name(key, KeyChecker::names_as_written(key, section));
  problems.add(place, fmt::format("{}unknown key '{}'", where, key),
               near ? fmt::format("did you mean '{}'?", *near)
                    : fmt::format("{} {} has no such key", tool.tool, tool.version),
               ErrorCode::unknown_key);
}

CheckedKeys check_keys(const ForeignValue& value, const KnownKeys& tool, std::string_view section,
                       Problems& problems, const std::string& path) {
  KeyChecker checker(tool, problems);
  ForeignValue tree = checker.check_map(value, tool.section(section), path);
  return {std::move(tree), std::move(checker.warnings)};
}

}  // namespace shardlab
