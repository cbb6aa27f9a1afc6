#include "engine/base/yaml_builder.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace shardlab {
namespace {

// They limit a document with its aliases in place, and what is remembered to be put there.
constexpr std::size_t k_most_nodes = 100'000;
constexpr std::size_t k_most_bytes = std::size_t{32} << 20;
constexpr std::size_t k_deepest = 50;

[[noreturn]] void refuse(Place place, std::string what, std::string hint = {}) {
  throw YamlRefused{Error{ErrorKind::bad_input, std::move(place), std::move(what), std::move(hint)}};
}

}  // namespace

Place YamlBuilder::place(const YAML::Mark& mark) const {
  if (whole_place_ || mark.is_null()) return in_file(name_);
  return in_file(name_, mark.line + 1, mark.column + 1);
}

void YamlBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  YamlNode node;
  node.place = place(mark);
  finish(std::move(node), anchor);
}

void YamlBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  const bool text_tag = tag == "tag:yaml.org,2002:str";
  if (!tag.empty() && tag != "?" && tag != "!" && !text_tag)
    refuse(place(mark), "tags are not supported: " + tag);
  YamlNode node = yaml_scalar(value, tag == "!" || text_tag);
  node.place = place(mark);
  finish(std::move(node), anchor);
}

void YamlBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto known = anchored_.find(anchor);
  if (known == anchored_.end()) refuse(place(mark), "an alias inside the value it stands for");
  const Anchored& original = known->second;
  if (open_.size() + original.size.depth > k_deepest) refuse(place(mark), "values are nested too deeply");
  spend(original.size, place(mark), "the aliases of this file expand to too many values");
  hand_over(YamlNode(original.node), original.size);
}

void YamlBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                                  YAML::EmitterStyle::value) {
  open(mark, tag, anchor, YamlNode::Kind::sequence);
}

void YamlBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value) {
  open(mark, tag, anchor, YamlNode::Kind::map);
}

void YamlBuilder::open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YamlNode::Kind kind) {
  if (!tag.empty() && tag != "?" && tag != "!") refuse(place(mark), "tags are not supported: " + tag);
  if (open_.size() >= k_deepest) refuse(place(mark), "values are nested too deeply");
  Open started;
  started.node.kind = kind;
  started.node.place = place(mark);
  started.anchor = anchor;
  open_.push_back(std::move(started));
}

void YamlBuilder::close() {
  Open done = std::move(open_.back());
  open_.pop_back();
  finish(std::move(done.node), done.anchor, done.inside);
}

void YamlBuilder::spend(YamlSize size, const Place& where, const char* complaint) {
  spent_ += size;
  if (spent_.nodes > k_most_nodes || spent_.bytes > k_most_bytes) refuse(where, complaint);
}

void YamlBuilder::finish(YamlNode node, YAML::anchor_t anchor, YamlSize inside) {
  YamlSize size{1, node.text.size()};
  spend(size, node.place);
  size += inside;
  if (!node.is_scalar()) ++size.depth;
  if (anchor != 0) {
    spend(size, node.place);
    anchored_.insert_or_assign(anchor, Anchored{node, size});
  }
  hand_over(std::move(node), size);
}

void YamlBuilder::hand_over(YamlNode node, YamlSize size) {
  if (open_.empty()) {
    root_ = std::move(node);
    return;
  }
  Open& parent = open_.back();
  parent.inside += size;
  if (parent.node.is_sequence()) {
    parent.node.items.push_back(std::move(node));
  } else if (!parent.entry) {
    begin_entry(parent, node);
  } else {
    parent.entry->value = std::move(node);
    parent.node.entries.push_back(*std::exchange(parent.entry, std::nullopt));
  }
}

void YamlBuilder::begin_entry(Open& parent, const YamlNode& key) {
  if (!key.is_scalar()) refuse(key.place, "a key must be a word", "write key: value");
  if (!parent.keys.insert(key.text).second) {
    const auto same = std::find_if(parent.node.entries.begin(), parent.node.entries.end(),
                                   [&](const YamlEntry& entry) { return entry.key == key.text; });
    refuse(key.place, fmt::format("duplicate key '{}'", key.text),
           "first given at " + to_string(same->place));
  }
  parent.entry = YamlEntry{key.text, key.place, {}};
}

}  // namespace shardlab
