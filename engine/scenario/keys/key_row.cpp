#include "engine/scenario/keys/key_row.h"

#include <algorithm>

#include <fmt/core.h>

#include "engine/base/nearest.h"
#include "engine/scenario/keys/other_names.h"

namespace shardlab {
namespace {

// What a section that may be changed has there.
void* find_in(const Finder& find, void* section) {
  return const_cast<void*>(find(section));
}

// Null pointer when there is none.
const KeyRow* row_named(const KeyTable& table, std::string_view name) {
  const auto row = std::find_if(table.rows.begin(), table.rows.end(),
                                [&](const KeyRow& each) { return each.name == name; });
  return row == table.rows.end() ? nullptr : &*row;
}

// What a key may mean that lies elsewhere. Within a distillation that would be the student's, of which a
// teacher obeys one.
std::vector<std::string> meant_elsewhere(const std::string& key, const std::string& path) {
  std::vector<std::string> meant = meant_keys(key);
  if (path.starts_with("distillation"))
    std::erase_if(meant, [](const std::string& each) { return each != "model.sequence_length"; });
  return meant;
}

// A key that lies elsewhere, or has another name with others, is meant rather than one that is spelt like it:
// `nodes` is no misspelt `model`.
std::string key_hint(const std::string& key, const std::string& path, const std::vector<std::string>& names) {
  const std::vector<std::string> meant = meant_elsewhere(key, path);
  if (meant.empty()) return suggestion(key, names);
  std::string hint = "did you mean " + meant.front();
  for (std::size_t i = 1; i < meant.size(); ++i) hint += " or " + meant[i];
  return hint + "?";
}

std::vector<std::string> names_in(const KeyTable& table) {
  std::vector<std::string> names;
  for (const KeyRow& row : table.rows) names.push_back(row.name);
  return names;
}

// What was meant is looked for where somebody reads it: thousands of unknown keys are a file of another kind.
Error unknown_key(const KeyTable& table, const YamlEntry& entry, const std::string& path,
                  int unknown_before) {
  constexpr int k_with_hints = 100;
  const bool is_hinted = unknown_before < k_with_hints;
  return Error{ErrorKind::bad_input, named(entry.place, path), "unknown key '" + entry.key + "'",
               is_hinted ? key_hint(entry.key, path, names_in(table)) : std::string()};
}

}  // namespace

KeyRow value_row(std::string_view name, Finder find, std::shared_ptr<const AnyKind> kind,
                 std::string_view help, std::string_view default_text, const void* defaults) {
  KeyRow row;
  row.name = name;
  row.read = [find, kind, name = row.name](const YamlNode& node, const std::string& path, void* section,
                                           Reading& reading) {
    const Status status = kind->read(node, name, find_in(find, section));
    if (status) return;
    Error error = status.error();
    if (error.place.empty()) error.place = node.is_null() ? reading.source.place(path) : node.place;
    error.place.name = path;
    reading.problems.add(std::move(error));
  };
  row.write_difference = [find, kind](const void* section, const void* base) -> std::optional<YamlNode> {
    if (kind->equal(find(section), find(base))) return std::nullopt;
    return kind->write(find(section));
  };
  row.word = [find, kind](const void* section) { return kind->write(find(section)).text; };
  row.describe_to = [=, help = std::string(help), default_text = std::string(default_text)](
                        const std::string& path, std::vector<KeyLine>& lines) {
    const YamlNode written = kind->write(find(defaults));
    const std::string shown =
        written.is_null() || (written.is_scalar() && written.text.empty()) ? "" : write_yaml_flow(written);
    lines.push_back({path,
                     kind->type(),
                     kind->values(),
                     default_text.empty() ? shown : default_text,
                     help,
                     {},
                     !default_text.empty()});
  };
  return row;
}

KeyRow section_row(std::string_view name, Finder find, std::function<const KeyTable&()> table,
                   std::string_view short_key) {
  KeyRow row;
  row.name = name;
  row.table = table;
  row.short_key = short_key;
  const std::string only_key(short_key);
  row.read = [=](const YamlNode& node, const std::string& path, void* outer, Reading& reading) {
    if (node.is_scalar() && !only_key.empty()) {
      YamlNode map;
      map.kind = YamlNode::Kind::map;
      map.entries.push_back({only_key, node.place, node});
      read_rows(table(), map, path, find_in(find, outer), reading);
    } else {
      read_rows(table(), node, path, find_in(find, outer), reading);
    }
  };
  row.write_difference = [=](const void* outer, const void* base) -> std::optional<YamlNode> {
    auto map = write_rows(table(), find(outer), find(base));
    const bool is_short = map && map->entries.size() == 1 && map->entries.front().key == only_key;
    return is_short ? std::optional<YamlNode>(map->entries.front().value) : map;
  };
  row.check = [=](const void* outer, const std::string& path, const ScenarioSource& source,
                  Problems& problems) { check_rows(table(), find(outer), path, source, problems); };
  row.describe_to = [table](const std::string& path, std::vector<KeyLine>& lines) {
    describe_rows(table(), path, lines);
  };
  return row;
}

KeyRow lifted_row(Finder find, const KeyRow& inner) {
  KeyRow row = inner;
  row.read = [=, read = inner.read](const YamlNode& node, const std::string& path, void* outer,
                                    Reading& reading) { read(node, path, find_in(find, outer), reading); };
  row.write_difference = [=, write = inner.write_difference](const void* outer, const void* base) {
    return write(find(outer), find(base));
  };
  if (inner.word) row.word = [=, word = inner.word](const void* outer) { return word(find(outer)); };
  if (inner.check) {
    row.check = [=, check = inner.check](const void* outer, const std::string& path,
                                         const ScenarioSource& source,
                                         Problems& problems) { check(find(outer), path, source, problems); };
  }
  return row;
}

void read_rows(const KeyTable& table, const YamlNode& node, const std::string& path, void* section,
               Reading& reading) {
  if (node.is_null()) return;
  if (!node.is_map()) {
    reading.problems.add(named(node.place, path.empty() ? "a scenario" : path),
                         "expected a map of keys, found " + std::string(describe(node.kind)),
                         "its keys: " + kind::joined(names_in(table)));
    return;
  }
  int unknown = 0;
  for (const YamlEntry& entry : node.entries) {
    const KeyRow* const row = row_named(table, entry.key);
    if (row == nullptr) {
      reading.problems.add(unknown_key(table, entry, path, unknown++));
      continue;
    }
    const std::string key_path = joined_path(path, entry.key);
    reading.source.record(key_path,
                          entry.value.is_map() || entry.value.is_null() ? entry.place : entry.value.place);
    row->read(entry.value, key_path, section, reading);
  }
}

std::optional<YamlNode> write_rows(const KeyTable& table, const void* section, const void* base) {
  YamlNode map;
  map.kind = YamlNode::Kind::map;
  for (const KeyRow& row : table.rows) {
    if (auto written = row.write_difference(section, base))
      map.entries.push_back({row.name, {}, *std::move(written)});
  }
  if (map.entries.empty()) return std::nullopt;
  return map;
}

namespace {

// A strategy that is given by --set meets what the file says for another one.
std::string removal_hint(const Place& decided, const std::string& section, const std::string& key,
                         const std::string& word) {
  if (key != "strategy" || !decided.file.starts_with("--set ")) return "remove it";
  return fmt::format("remove it; --set '{0}={{{1}: {2}}}' leaves out all other keys of {0}", section, key,
                     word);
}

}  // namespace

void check_rows(const KeyTable& table, const void* section, const std::string& path,
                const ScenarioSource& source, Problems& problems) {
  for (const KeyRow& row : table.rows) {
    const std::string key_path = joined_path(path, row.name);
    if (row.check) row.check(section, key_path, source, problems);
    if (row.only_with.key.empty() || !row.write_difference(section, table.defaults)) continue;
    const KeyRow* const other = row_named(table, row.only_with.key);
    if (other == nullptr || !other->word) continue;
    const std::string word = other->word(section);
    const auto& allowed = row.only_with.values;
    if (std::find(allowed.begin(), allowed.end(), word) != allowed.end()) continue;
    const std::string decides = joined_path(path, other->name);
    problems.add(source.place(key_path), "has no effect with " + other->name + " " + word,
                 removal_hint(source.place(decides), path, other->name, word) + ", or set " + decides +
                     " to " + kind::joined(allowed));
  }
}

void describe_rows(const KeyTable& table, const std::string& path, std::vector<KeyLine>& lines) {
  for (const KeyRow& row : table.rows) {
    const std::size_t first = lines.size();
    row.describe_to(joined_path(path, row.name), lines);
    if (row.only_with.key.empty()) continue;
    for (std::size_t i = first; i < lines.size(); ++i) {
      if (lines[i].condition.key.empty()) lines[i].condition = row.only_with;
    }
  }
}

}  // namespace shardlab
