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

bool is_of_a_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The word of "word:value", of which YAML makes one text; empty where the line has none. What has a slash
// behind the colon is an address.
std::string_view word_without_space(std::string_view line) {
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    const bool ends = colon + 1 == line.size();
    if (ends || line[colon + 1] == ' ' || line[colon + 1] == '/' || line[colon + 1] == '\r') continue;
    std::size_t begin = colon;
    while (begin > 0 && is_of_a_word(line[begin - 1])) --begin;
    if (begin < colon) return line.substr(begin, colon - begin);
  }
  return {};
}

// What the line of a syntax error, or the one before it, shows and the parser's message does not say.
std::string syntax_hint(std::string_view text, const YAML::Mark& mark) {
  int number = 0;
  for (std::size_t start = 0; start < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    start = end + 1;
    if (number != mark.line && number + 1 != mark.line) continue;
    if (line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos)
      return "indent with spaces, YAML does not take tabs";
    if (const std::string_view word = word_without_space(line); !word.empty())
      return "a space is missing after '" + std::string(word) + ":'";
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
    return bad_input(builder.place(error.mark), "YAML syntax: " + error.msg, syntax_hint(text, error.mark));
  } catch (const std::bad_alloc&) {
    throw;  // not of this file
  } catch (const std::exception& error) {
    return bad_input(in_file(std::string(name)), std::string("YAML could not be read: ") + error.what());
  }
}

}  // namespace shardlab
