#include "engine/scenario/yaml_edit.h"

#include <algorithm>
#include <vector>

#include "engine/base/text_place.h"
#include "engine/scenario/source.h"

namespace shardlab {
namespace {

constexpr std::string_view k_name = "text";

// The entries along a dotted key, as far as they exist.
std::vector<const YamlEntry*> entries_along(const YamlNode& root, std::string_view key) {
  std::vector<const YamlEntry*> found;
  const YamlNode* node = &root;
  while (!key.empty()) {
    const std::size_t dot = key.find('.');
    const std::string_view name = key.substr(0, dot);
    const auto entry = std::find_if(node->entries.begin(), node->entries.end(),
                                    [&](const YamlEntry& candidate) { return candidate.key == name; });
    if (entry == node->entries.end()) break;
    found.push_back(&*entry);
    node = &entry->value;
    if (dot == std::string_view::npos) break;
    key.remove_prefix(dot + 1);
  }
  return found;
}

std::size_t depth_of_key(std::string_view key) {
  return static_cast<std::size_t>(std::count(key.begin(), key.end(), '.')) + 1;
}

std::string_view tail_of(std::string_view key, std::size_t skipped) {
  for (; skipped > 0; --skipped) key.remove_prefix(key.find('.') + 1);
  return key;
}

std::optional<std::size_t> offset_in(std::string_view text, const Place& place) {
  const auto in_text = text_place(place);
  return in_text ? std::optional(offset_of(text, *in_text)) : std::nullopt;
}

// Behind the bracket that closes the one at `begin`; quotes are respected.
std::size_t flow_end(std::string_view text, std::size_t begin) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if ((c == ']' || c == '}') && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();
}

std::size_t quoted_end(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return text.size();
}

// The end of a value of one line that begins at `begin`; none for block lists, block maps and block scalars.
std::optional<std::size_t> value_end(std::string_view text, const YamlNode& node, std::size_t begin) {
  if (begin >= text.size()) return std::nullopt;
  const char first = text[begin];
  if (first == '[' || first == '{') return flow_end(text, begin);
  if (first == '"' || first == '\'') return quoted_end(text, begin);
  if (node.is_scalar() && text.substr(begin, node.text.size()) == node.text) return begin + node.text.size();
  return std::nullopt;
}

std::string replaced(std::string_view text, std::size_t begin, std::size_t end, std::string_view by) {
  return std::string(text.substr(0, begin)).append(by).append(text.substr(end));
}

// "mesh: {shard: 8}" for mesh.shard: what is missing below a section, in one line.
std::string entry_text(std::string_view key, std::string_view value) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return std::string(key) + ": " + std::string(value);
  return std::string(key.substr(0, dot)) + ": {" + entry_text(key.substr(dot + 1), value) + "}";
}

// The last line that belongs to a node, by the places inside it.
std::size_t last_offset(std::string_view text, const YamlNode& node, std::size_t begin) {
  std::size_t last = begin;
  for (const YamlEntry& entry : node.entries) {
    if (const auto offset = offset_in(text, entry.place)) last = std::max(last, *offset);
    if (const auto offset = offset_in(text, entry.value.place))
      last = std::max(last, last_offset(text, entry.value, *offset));
  }
  for (const YamlNode& item : node.items)
    if (const auto offset = offset_in(text, item.place))
      last = std::max(last, last_offset(text, item, *offset));
  if (const auto end = value_end(text, node, begin)) last = std::max(last, *end - 1);
  return last;
}

// A new line below the last one of a block map, indented like its first key.
std::optional<std::string> insert_in_block(std::string_view text, const YamlNode& map,
                                           std::string_view line) {
  const auto place = text_place(map.entries.front().place);
  if (!place) return std::nullopt;
  const std::size_t last = last_offset(text, map, offset_of(text, *place));
  const std::size_t end = line_at(text, last).end;
  return replaced(text, end, end, "\n" + std::string(place->column - 1, ' ') + std::string(line));
}

std::optional<std::string> insert_in_map(std::string_view text, const YamlNode& root, const YamlNode& map,
                                         std::string_view line) {
  if (map.entries.empty()) return std::nullopt;
  const auto begin = &map == &root ? std::nullopt : offset_in(text, map.place);
  if (!begin || *begin >= text.size() || text[*begin] != '{') return insert_in_block(text, map, line);
  std::size_t end = flow_end(text, *begin) - 1;  // of the bracket
  while (end > *begin && text[end - 1] == ' ') --end;
  return replaced(text, end, end, ", " + std::string(line));
}

std::optional<std::string> set_in_place(std::string_view text, const YamlNode& root, std::string_view key,
                                        std::string_view value) {
  const auto along = entries_along(root, key);
  if (along.size() == depth_of_key(key)) {
    const YamlNode& node = along.back()->value;
    const auto begin = offset_in(text, node.place);
    const auto end = begin ? value_end(text, node, *begin) : std::nullopt;
    return end ? std::optional(replaced(text, *begin, *end, value)) : std::nullopt;
  }
  const YamlNode& map = along.empty() ? root : along.back()->value;
  if (!map.is_map()) return std::nullopt;
  return insert_in_map(text, root, map, entry_text(tail_of(key, along.size()), value));
}

void remove_from(YamlNode& node, std::string_view key) {
  const std::size_t dot = key.find('.');
  const auto entry = std::find_if(node.entries.begin(), node.entries.end(), [&](const YamlEntry& candidate) {
    return candidate.key == key.substr(0, dot);
  });
  if (entry == node.entries.end()) return;
  if (dot != std::string_view::npos) {
    remove_from(entry->value, key.substr(dot + 1));
    if (!entry->value.is_map() || !entry->value.entries.empty()) return;
  }
  node.entries.erase(entry);
}

// The lines of a key of a block map, or the key and a comma of a flow map.
std::optional<std::string> unset_in_place(std::string_view text, const std::vector<const YamlEntry*>& along,
                                          const YamlNode& root) {
  std::size_t depth = along.size() - 1;
  while (depth > 0 && along[depth - 1]->value.entries.size() == 1) --depth;  // an emptied section goes too
  const YamlEntry& entry = *along[depth];
  const auto begin = offset_in(text, entry.place);
  if (!begin) return std::nullopt;
  const LineRange line = line_at(text, *begin);
  const bool alone =
      text.substr(line.begin, *begin - line.begin).find_first_not_of(' ') == std::string_view::npos;
  const auto value = offset_in(text, entry.value.place);
  const std::size_t last = value ? last_offset(text, entry.value, *value) : *begin;
  if (alone) return replaced(text, line.begin, std::min(line_at(text, last).end + 1, text.size()), "");
  const YamlNode& map = depth == 0 ? root : along[depth - 1]->value;
  const auto end = value ? value_end(text, entry.value, *value) : std::nullopt;
  if (!end) return std::nullopt;
  if (&map.entries.front() != &entry) {
    const std::size_t comma = text.rfind(',', *begin);
    return replaced(text, comma, *end, "");
  }
  const std::size_t next = text.find_first_not_of(", ", *end);
  return replaced(text, *begin, next, "");
}

// The edited text if it reads as the tree that is wanted, else the tree written out.
std::string checked(const std::optional<std::string>& edited, const YamlNode& wanted) {
  if (edited) {
    const auto tree = parse_yaml(*edited, k_name);
    if (tree && same_tree(*tree, wanted)) return *edited;
  }
  return write_yaml(wanted);
}

}  // namespace

std::string quoted_yaml(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

bool same_tree(const YamlNode& a, const YamlNode& b) {
  return a.kind == b.kind && a.text == b.text && a.quoted == b.quoted &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_tree) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const YamlEntry& x, const YamlEntry& y) {
                      return x.key == y.key && same_tree(x.value, y.value);
                    });
}

Result<std::string> set_yaml_value(std::string_view text, std::string_view key, std::string_view value) {
  SHARDLAB_TRY(const YamlNode root, parse_yaml(text, k_name));
  YamlNode wanted = root;
  SHARDLAB_CHECK_OK(apply_override(wanted, std::string(key) + "=" + std::string(value)));
  return checked(set_in_place(text, root, key, value), wanted);
}

Result<std::string> unset_yaml_value(std::string_view text, std::string_view key) {
  SHARDLAB_TRY(const YamlNode root, parse_yaml(text, k_name));
  const auto along = entries_along(root, key);
  if (along.size() != depth_of_key(key)) return std::string(text);
  YamlNode wanted = root;
  remove_from(wanted, key);
  return checked(unset_in_place(text, along, root), wanted);
}

std::optional<std::string> yaml_value_text(const YamlNode& root, std::string_view key) {
  const auto along = entries_along(root, key);
  if (along.size() != depth_of_key(key)) return std::nullopt;
  const YamlNode& node = along.back()->value;
  return node.is_scalar() ? node.text : write_yaml_flow(node);
}

}  // namespace shardlab
