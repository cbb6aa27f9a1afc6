#include "engine/scenario/keys/kind.h"

#include <algorithm>

#include <fmt/core.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/scenario/keys/other_names.h"

namespace shardlab::kind {
namespace {

std::string range_text(const std::string& least, const std::string& most) {
  return most.empty() ? least + " or more" : least + " to " + most;
}

template <typename V>
Kind<V> ranged(std::string type, std::string values, V least, V most, bool open,
               Result<V> (*parse)(std::string_view)) {
  Kind<V> result;
  result.type = type;
  result.values = values;
  result.read = [=](const YamlNode& node, std::string_view) -> Result<V> {
    SHARDLAB_TRY(const std::string text, bare_text(node, type));
    SHARDLAB_TRY(const V value, parse(text));
    const bool inside = open ? least < value && value < most : least <= value && value <= most;
    if (!inside) return bad_input({}, fmt::format("{} is out of range", text), "allowed: " + values);
    return value;
  };
  return result;
}

}  // namespace

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

AllowedValues only(std::vector<std::string> words) {
  AllowedValues values(joined(words));
  values.words = std::move(words);
  values.only_words = true;
  return values;
}

Result<std::string> scalar_text(const YamlNode& node) {
  if (node.is_scalar()) return node.text;
  if (node.is_null()) return bad_input({}, "has no value");
  return bad_input({}, fmt::format("expected one value, found {}", describe(node.kind)));
}

Result<std::string> bare_text(const YamlNode& node, std::string_view expected) {
  SHARDLAB_TRY(std::string text, scalar_text(node));
  if (node.quoted)
    return bad_input({}, fmt::format("\"{}\" in quotes is text", text),
                     fmt::format("expected: {}, without quotes", expected));
  return text;
}

tl::unexpected<Error> unknown_word(std::string_view name, std::string_view text,
                                   const std::vector<std::string>& names) {
  std::string noun(name);
  std::replace(noun.begin(), noun.end(), '_', ' ');
  const std::string meant = meant_word(text, names);
  return bad_input({}, fmt::format("unknown {} '{}'", noun, text),
                   meant.empty() ? suggestion(text, names) : "did you mean '" + meant + "'?");
}

Kind<std::string> text() {
  return {"text", "", [](const YamlNode& node, std::string_view) { return scalar_text(node); },
          [](const std::string& value) { return yaml_scalar(value); }};
}

Kind<std::string> word(std::vector<std::string> names) {
  return {"word", only(names),
          [names](const YamlNode& node, std::string_view name) -> Result<std::string> {
            SHARDLAB_TRY(std::string text, scalar_text(node));
            if (std::find(names.begin(), names.end(), text) == names.end())
              return unknown_word(name, text, names);
            return text;
          },
          [](const std::string& value) { return yaml_scalar(value); }};
}

Kind<bool> boolean() {
  return {"true or false", "",
          [](const YamlNode& node, std::string_view) -> Result<bool> {
            SHARDLAB_TRY(const std::string text, bare_text(node, "true or false"));
            return parse_boolean(text);
          },
          [](const bool& value) { return yaml_scalar(value ? "true" : "false"); }};
}

Kind<std::int64_t> long_integer(std::int64_t least, std::int64_t most) {
  const std::string values =
      range_text(std::to_string(least), most == k_no_limit ? "" : std::to_string(most));
  auto result = ranged<std::int64_t>("integer", values, least, most, false, &parse_integer);
  result.values.least = least;
  result.write = [](const std::int64_t& value) { return yaml_scalar(std::to_string(value)); };
  return result;
}

Kind<int> integer(int least, int most) {
  const bool bounded = most != std::numeric_limits<int>::max();
  const Kind<std::int64_t> wide = long_integer(least, most);
  Kind<int> result;
  result.type = wide.type;
  result.values = range_text(std::to_string(least), bounded ? std::to_string(most) : "");
  result.values.least = least;
  result.read = [wide](const YamlNode& node, std::string_view name) -> Result<int> {
    SHARDLAB_TRY(const std::int64_t value, wide.read(node, name));
    return static_cast<int>(value);
  };
  result.write = [](const int& value) { return yaml_scalar(std::to_string(value)); };
  return result;
}

Kind<double> number(double least, double most, bool open) {
  const bool bounded = most != std::numeric_limits<double>::infinity();
  std::string values = bounded ? fmt::format("{} to {}", least, most) : fmt::format("{} or more", least);
  if (open)
    values = bounded ? fmt::format("between {} and {}", least, most) : fmt::format("more than {}", least);
  auto result = ranged<double>("number", values, least, most, open, &parse_number);
  result.write = [](const double& value) { return yaml_scalar(format_number(value)); };
  return result;
}

Kind<double> fraction(double least, double most) {
  auto result =
      ranged<double>("fraction", fmt::format("{} to {}", format_fraction(least), format_fraction(most)),
                     least, most, false, &parse_fraction);
  result.write = [](const double& value) { return yaml_scalar(format_fraction(value)); };
  return result;
}

Kind<Bytes> size() {
  auto result = ranged<Bytes>("size", "more than 0", Bytes{0}, Bytes{k_no_limit}, true, &parse_bytes);
  result.write = [](const Bytes& value) { return yaml_scalar(format_bytes(value)); };
  return result;
}

Kind<BytesPerSecond> rate() {
  constexpr double k_most = std::numeric_limits<double>::infinity();
  auto result = ranged<BytesPerSecond>("rate", "more than 0", BytesPerSecond{0}, BytesPerSecond{k_most}, true,
                                       &parse_bytes_per_second);
  result.write = [](const BytesPerSecond& value) {
    return yaml_scalar(format_bytes(Bytes{static_cast<std::int64_t>(value.value)}) + "/s");
  };
  return result;
}

Kind<Nanoseconds> duration() {
  auto result = ranged<Nanoseconds>("time", "more than 0", Nanoseconds{0}, Nanoseconds{k_no_limit}, true,
                                    &parse_duration);
  result.write = [](const Nanoseconds& value) { return yaml_scalar(format_duration(value)); };
  return result;
}

Kind<DType> dtype(std::vector<DType> allowed) {
  std::vector<std::string> names;
  for (const DType type : allowed) names.emplace_back(to_string(type));
  return {"dtype", only(names),
          [names](const YamlNode& node, std::string_view) -> Result<DType> {
            SHARDLAB_TRY(const std::string text, scalar_text(node));
            const bool known = std::find(names.begin(), names.end(), text) != names.end();
            if (const auto type = parse_dtype(text); type && known) return *type;
            if (std::string instead = setting_instead(text); !instead.empty())
              return bad_input({}, fmt::format("unknown dtype '{}'", text), std::move(instead));
            return unknown_word("dtype", text, names);
          },
          [](const DType& value) { return yaml_scalar(std::string(to_string(value))); }};
}

}  // namespace shardlab::kind
