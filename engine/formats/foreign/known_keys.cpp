#include "engine/formats/foreign/known_keys.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/input_file.h"
#include "engine/base/parse.h"
#include "engine/base/paths.h"
#include "engine/base/yaml.h"

namespace shardlab {
namespace {

using TypeKind = KnownType::Kind;

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

struct NamedKind {
  std::string_view name;
  TypeKind kind;
};
constexpr NamedKind k_kinds[] = {
    {"boolean", TypeKind::boolean}, {"integer", TypeKind::integer}, {"number", TypeKind::number},
    {"text", TypeKind::text},       {"list", TypeKind::list},       {"map", TypeKind::map},
    {"any", TypeKind::any},         {"null", TypeKind::null},       {"flag", TypeKind::flag},
    {"section", TypeKind::section}, {"word", TypeKind::word},       {"anycase", TypeKind::word}};

// "integer 1 to", "number 0 to 1", "word a|b", "anycase a|b", "section fp16", "text".
KnownType type_of(const std::string& text) {
  const std::vector<std::string> parts = split(text, " ");
  KnownType type;
  for (const NamedKind& known : k_kinds) {
    if (parts.front() == known.name) type.kind = known.kind;
  }
  if (type.kind == TypeKind::section && parts.size() > 1) type.section = parts[1];
  static constexpr std::string_view k_folded = "anycase";
  type.folded = k_folded.compare(parts.front()) == 0;
  if (type.kind == TypeKind::word && parts.size() > 1) type.words = split(parts[1], "|");
  if (type.kind != TypeKind::integer && type.kind != TypeKind::number) return type;
  if (parts.size() > 1) type.least = parse_number(parts[1]).value_or(0);
  if (parts.size() > 3) type.most = parse_number(parts[3]).value_or(0);
  return type;
}

std::map<std::string, std::string> texts_of(const YamlNode* node) {
  std::map<std::string, std::string> texts;
  if (node == nullptr) return texts;
  for (const YamlEntry& entry : node->entries) texts[entry.key] = entry.value.text;
  return texts;
}

bool is_set(const YamlNode& node, std::string_view key) {
  const YamlNode* const found = node.find(key);
  return found != nullptr && parse_boolean(found->text).value_or(false);
}

// Every key of the section, or those that are listed.
void mark_converting(const YamlNode& section, std::vector<KnownKey>& keys) {
  const bool all = is_set(section, "converts");
  const YamlNode* const listed = section.find("converts");
  for (KnownKey& key : keys) {
    key.converts = all;
    for (const YamlNode& name : listed == nullptr ? std::vector<YamlNode>() : listed->items)
      key.converts = key.converts || name.text == key.name;
  }
}

KnownSection section_of(const YamlEntry& entry) {
  KnownSection section;
  section.name = entry.key;
  if (const YamlNode* const keys = entry.value.find("keys")) {
    for (const YamlEntry& key : keys->entries) {
      KnownKey known{key.key, {}, false};
      for (const std::string& type : split(key.value.text, " or ")) known.types.push_back(type_of(type));
      section.keys.push_back(std::move(known));
    }
  }
  if (const YamlNode* const prefix = entry.value.find("prefix")) section.prefix = prefix->text;
  section.prefix_is_ours = is_set(entry.value, "required_prefix");
  section.folded = is_set(entry.value, "folded");
  section.lenient = is_set(entry.value, "lenient");
  mark_converting(entry.value, section.keys);
  section.drops_auto = is_set(entry.value, "drops_auto");
  section.aliases = texts_of(entry.value.find("aliases"));
  section.removed = texts_of(entry.value.find("removed"));
  section.renamed = texts_of(entry.value.find("renamed"));
  section.unread = texts_of(entry.value.find("unread"));
  return section;
}

Result<KnownKeys> read_known_keys(std::string_view file) {
  const std::string relative = fmt::format("formats/{}.yaml", file);
  SHARDLAB_TRY(const std::filesystem::path path, find_asset(relative));
  SHARDLAB_TRY(const std::string text, read_input_file(path, k_description_file));
  SHARDLAB_TRY(const YamlNode root, parse_yaml(text, path.string()));
  KnownKeys known;
  if (const YamlNode* const tool = root.find("tool")) known.tool = tool->text;
  if (const YamlNode* const version = root.find("version")) known.version = version->text;
  const YamlNode* const sections = root.find("sections");
  if (sections == nullptr) return bad_input(in_file(path.string()), "has no sections");
  for (const YamlEntry& entry : sections->entries) known.sections.emplace(entry.key, section_of(entry));
  return known;
}

std::string expected_number(const KnownType& type) {
  std::string text = type.kind == TypeKind::integer ? "an integer" : "a number";
  if (type.least && type.most) return text + fmt::format(" from {} to {}", *type.least, *type.most);
  return type.least ? text + fmt::format(" of {} or more", *type.least) : text;
}

std::string expected_type(const KnownType& type) {
  switch (type.kind) {
    case TypeKind::boolean: return "true or false";
    case TypeKind::integer:
    case TypeKind::number: return expected_number(type);
    case TypeKind::text: return "text";
    case TypeKind::list: return "a list";
    case TypeKind::section:
    case TypeKind::map: return "a map";
    case TypeKind::word: return fmt::format("{}", fmt::join(type.words, ", "));
    case TypeKind::any: return "any value";
    case TypeKind::null: return "null";
    case TypeKind::flag: return "no value";
  }
  return {};
}

}  // namespace

const KnownKey* KnownSection::find(std::string_view key_name) const {
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const KnownKey& key) { return key.name == key_name; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string> KnownSection::names() const {
  std::vector<std::string> all;
  for (const KnownKey& key : keys) all.push_back(key.name);
  for (const auto& [alias, meant] : aliases) all.push_back(alias);
  return all;
}

const KnownSection& KnownKeys::section(std::string_view name) const {
  static const KnownSection empty;
  const auto found = sections.find(name);
  return found == sections.end() ? empty : found->second;
}

Result<const KnownKeys*> known_keys(std::string_view file) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<KnownKeys>, std::less<>> read;
  const std::lock_guard lock(mutex);
  const auto found = read.find(file);
  if (found != read.end()) return found->second.get();
  SHARDLAB_TRY(KnownKeys known, read_known_keys(file));
  return read.emplace(file, std::make_unique<KnownKeys>(std::move(known))).first->second.get();
}

std::string expected(const KnownKey& key) {
  std::vector<std::string> types;
  for (const KnownType& type : key.types) {
    if (type.kind != TypeKind::null) types.push_back(expected_type(type));
  }
  return fmt::format("{}", fmt::join(types, " or "));
}

}  // namespace shardlab
