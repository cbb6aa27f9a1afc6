#include <algorithm>

#include <fmt/core.h>

#include "engine/base/yaml.h"

namespace shardlab {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Whether the text is the same plain or quoted, inside lists and maps too.
bool is_plain(std::string_view text) {
  if (text.empty() || text == "null" || text == "Null" || text == "NULL") return false;
  if (!is_letter_or_digit(text.front()) && text.front() != '/' && text.front() != '.' &&
      text.front() != '_' && text.front() != '-') {
    return false;
  }
  if (text.front() == '-' && (text.size() < 2 || !is_letter_or_digit(text[1]))) return false;
  if (text.substr(0, 3) == "...") return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter_or_digit(c) || std::string_view("_./-+%*").find(c) != std::string_view::npos;
  });
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string scalar_text(const YamlNode& node) {
  return node.quoted || !is_plain(node.text) ? in_quotes(node.text) : node.text;
}

std::string key_text(const std::string& key) {
  return is_plain(key) ? key : in_quotes(key);
}

bool fits_one_line(const YamlNode& node) {
  if (node.is_sequence()) {
    return std::all_of(node.items.begin(), node.items.end(),
                       [](const YamlNode& item) { return item.is_scalar() || item.is_null(); });
  }
  return !node.is_map() || node.entries.empty();
}

void write_block(const YamlNode& node, std::size_t indent, std::string& out);

// What follows "key:" or "-".
void write_value(const YamlNode& value, std::size_t indent, std::string& out) {
  if (fits_one_line(value)) {
    out += ' ' + write_yaml_flow(value) + '\n';
  } else {
    out += '\n';
    write_block(value, indent + 2, out);
  }
}

void write_block(const YamlNode& node, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  for (const YamlEntry& entry : node.entries) {
    out += margin + key_text(entry.key) + ':';
    write_value(entry.value, indent, out);
  }
  for (const YamlNode& item : node.items) {
    out += margin + '-';
    write_value(item, indent, out);
  }
}

}  // namespace

std::string write_yaml(const YamlNode& node) {
  if (fits_one_line(node)) return write_yaml_flow(node) + '\n';
  std::string out;
  write_block(node, 0, out);
  return out;
}

std::string write_yaml_flow(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null: return "null";
    case YamlNode::Kind::scalar: return scalar_text(node);
    case YamlNode::Kind::sequence: break;
    case YamlNode::Kind::map: break;
  }
  std::string out(1, node.is_map() ? '{' : '[');
  const std::size_t empty = out.size();
  for (const YamlEntry& entry : node.entries) {
    out += (out.size() > empty ? ", " : "") + key_text(entry.key) + ": " + write_yaml_flow(entry.value);
  }
  for (const YamlNode& item : node.items) out += (out.size() > empty ? ", " : "") + write_yaml_flow(item);
  return out + (node.is_map() ? '}' : ']');
}

}  // namespace shardlab
