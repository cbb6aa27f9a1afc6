// YAML as a tree, in both forms in which we write it.
#include <algorithm>

#include "engine/base/parse.h"
#include "engine/base/yaml.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {
namespace {

// Quotes may come to a text that needs none, where it reads as the same all the same.
bool reads_alike(const YamlNode& a, const YamlNode& b) {
  const bool is_typed = parse_number(a.text) || parse_boolean(a.text);
  return a.kind == b.kind && a.text == b.text && (a.quoted == b.quoted || !is_typed) &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), reads_alike) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const YamlEntry& x, const YamlEntry& y) {
                      return x.key == y.key && reads_alike(x.value, y.value);
                    });
}

}  // namespace

Answer read_yaml_text(std::string_view bytes) {
  const Result<YamlNode> tree = parse_yaml(bytes, "input.yaml");
  if (!tree) return answer_of(tree);
  const std::string block = write_yaml(*tree), flow = write_yaml_flow(*tree);
  const Result<YamlNode> from_block = parse_yaml(block, "block.yaml"),
                         from_flow = parse_yaml(flow, "flow.yaml");
  promise(from_block && reads_alike(*from_block, *tree), "YAML passes through a block:\n" + block);
  promise(from_flow && reads_alike(*from_flow, *tree), "YAML passes through a line:\n" + flow);
  return Answer::taken;
}

}  // namespace shardlab::fuzz
