#include "engine/base/yaml.h"

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace shardlab {
namespace {

constexpr std::size_t k_most_nodes = 100'000;
constexpr std::size_t k_deepest = 50;

// Thrown through yaml-cpp's parser and caught in parse_yaml.
struct Refused {
  Error error;
};

// Builds the tree from yaml-cpp's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view name, bool whole_place) : name_(name), whole_place_(whole_place) {}

  YamlNode take_root() { return std::move(root_); }

  std::string place(const YAML::Mark& mark) const {
    if (whole_place_ || mark.is_null()) return name_;
    return fmt::format("{}:{}:{}", name_, mark.line + 1, mark.column + 1);
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node;
    node.where = place(mark);
    finish(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    const bool text_tag = tag == "tag:yaml.org,2002:str";
    if (!tag.empty() && tag != "?" && tag != "!" && !text_tag) refuse(mark, "tags are not supported: " + tag);
    YamlNode node = yaml_scalar(value, tag == "!" || text_tag);
    node.where = place(mark);
    finish(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchored_.find(anchor);
    if (known == anchored_.end()) refuse(mark, "an alias inside the value it stands for");
    nodes_ += known->second.nodes;
    if (nodes_ > k_most_nodes) refuse(mark, "the aliases of this file expand to too many values");
    finish(known->second.node, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  // A sequence or map that is being read.
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::size_t nodes_before = 0;
    std::optional<YamlEntry> entry;  // of a map: the key has been read, the value not yet
    std::set<std::string> keys;
  };
  struct Anchored {
    YamlNode node;
    std::size_t nodes = 0;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string what) const {
    throw Refused{Error{ErrorKind::bad_input, place(mark), std::move(what), {}}};
  }
  [[noreturn]] void refuse(std::string where, std::string what, std::string hint = {}) const {
    throw Refused{Error{ErrorKind::bad_input, std::move(where), std::move(what), std::move(hint)}};
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (!tag.empty() && tag != "?" && tag != "!") refuse(mark, "tags are not supported: " + tag);
    if (open_.size() >= k_deepest) refuse(mark, "values are nested too deeply");
    Open started;
    started.node.kind = kind;
    started.node.where = place(mark);
    started.anchor = anchor;
    started.nodes_before = nodes_;
    open_.push_back(std::move(started));
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    const std::size_t inside = nodes_ - done.nodes_before;
    finish(std::move(done.node), done.anchor, inside);
  }

  // A node is complete: remember it under its anchor and hand it to the container around it.
  void finish(YamlNode node, YAML::anchor_t anchor, std::size_t inside = 0) {
    if (++nodes_ > k_most_nodes) refuse(node.where, "too many values for a file of this kind");
    if (anchor != 0) anchored_.insert_or_assign(anchor, Anchored{node, inside + 1});
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.is_sequence()) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.entry) {
      begin_entry(parent, node);
    } else {
      parent.entry->value = std::move(node);
      parent.node.entries.push_back(*std::exchange(parent.entry, std::nullopt));
    }
  }

  void begin_entry(Open& parent, const YamlNode& key) {
    if (!key.is_scalar()) refuse(key.where, "a key must be a word", "write key: value");
    if (!parent.keys.insert(key.text).second) {
      const auto same = std::find_if(parent.node.entries.begin(), parent.node.entries.end(),
                                     [&](const YamlEntry& entry) { return entry.key == key.text; });
      refuse(key.where, fmt::format("duplicate key '{}'", key.text), "first given at " + same->where);
    }
    parent.entry = YamlEntry{key.text, key.where, {}};
  }

  std::string name_;
  bool whole_place_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchored_;
  std::size_t nodes_ = 0;
  YamlNode root_;
};

bool is_text(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f;
  });
}

// The length of the UTF-8 character at the start of the text; 0 when it is none.
std::size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  const bool continues = std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length),
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; });
  return continues ? length : 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// A hint when the line of a syntax error, or the one before it, is indented with a tab: the parser's message does not say so.
std::string tab_hint(std::string_view text, const YAML::Mark& mark) {
  int line = 0;
  for (std::size_t start = 0; start < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view indent = text.substr(start, text.find_first_not_of(" \t", start) - start);
    const bool near_error = line == mark.line || line + 1 == mark.line;
    if (near_error && indent.find('\t') != std::string_view::npos) return "indent with spaces, YAML does not take tabs";
    start = end + 1;
  }
  return {};
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

YamlNode* YamlNode::find(std::string_view key) {
  return const_cast<YamlNode*>(static_cast<const YamlNode&>(*this).find(key));
}

YamlNode yaml_scalar(std::string text, bool quoted) {
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

YamlNode yaml_sequence(std::vector<YamlNode> items) {
  YamlNode node;
  node.kind = YamlNode::Kind::sequence;
  node.items = std::move(items);
  return node;
}

std::string_view describe(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::null: return "nothing";
    case YamlNode::Kind::scalar: return "a value";
    case YamlNode::Kind::sequence: return "a list";
    case YamlNode::Kind::map: return "a map";
  }
  return "";
}

Result<YamlNode> parse_yaml(std::string_view text, std::string_view name, bool whole_place) {
  if (!is_text(text)) return bad_input(std::string(name), "is not a text file", "it holds control characters");
  if (!is_utf8(text)) return bad_input(std::string(name), "is not a text file", "it is not UTF-8");
  TreeBuilder builder(name, whole_place);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return YamlNode{};
    YamlNode root = builder.take_root();
    if (parser.HandleNextDocument(builder)) return bad_input(std::string(name), "holds more than one YAML document");
    return root;
  } catch (const Refused& refused) {
    return fail(refused.error);
  } catch (const YAML::Exception& error) {
    return bad_input(builder.place(error.mark), "YAML syntax: " + error.msg, tab_hint(text, error.mark));
  } catch (const std::exception& error) {
    return bad_input(std::string(name), std::string("YAML could not be read: ") + error.what());
  }
}

}  // namespace shardlab
