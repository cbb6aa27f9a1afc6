#include "engine/base/yaml.h"

#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>

#include <fmt/core.h>

#include "engine/base/text/utf8.h"
#include "engine/base/yaml_builder.h"

namespace shardlab {
namespace {

bool is_text(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f;
  });
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// A hint when the line of a syntax error, or the one before it, is indented with a tab: the parser's message
// does not say so.
std::string tab_hint(std::string_view text, const YAML::Mark& mark) {
  int line = 0;
  for (std::size_t start = 0; start < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view indent = text.substr(start, text.find_first_not_of(" \t", start) - start);
    const bool near_error = line == mark.line || line + 1 == mark.line;
    if (near_error && indent.find('\t') != std::string_view::npos)
      return "indent with spaces, YAML does not take tabs";
    start = end + 1;
  }
  return {};
}

}  // namespace

YamlNode::YamlNode() = default;
YamlNode::YamlNode(const YamlNode&) = default;
YamlNode::YamlNode(YamlNode&&) noexcept = default;
YamlNode& YamlNode::operator=(const YamlNode&) = default;
YamlNode& YamlNode::operator=(YamlNode&&) noexcept = default;
YamlNode::~YamlNode() = default;

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
  if (!is_text(text))
    return bad_input(in_file(std::string(name)), "is not a text file", "it holds control characters");
  if (!is_utf8(text)) return bad_input(in_file(std::string(name)), "is not a text file", "it is not UTF-8");
  YamlBuilder builder(name, whole_place);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return YamlNode{};
    YamlNode root = builder.take_root();
    if (parser.HandleNextDocument(builder))
      return bad_input(in_file(std::string(name)), "holds more than one YAML document");
    return root;
  } catch (const YamlRefused& refused) {
    return fail(refused.error);
  } catch (const YAML::Exception& error) {
    return bad_input(builder.place(error.mark), "YAML syntax: " + error.msg, tab_hint(text, error.mark));
  } catch (const std::bad_alloc&) {
    throw;  // not of this file
  } catch (const std::exception& error) {
    return bad_input(in_file(std::string(name)), std::string("YAML could not be read: ") + error.what());
  }
}

}  // namespace shardlab
