// `--set key=value`, a line each, onto a scenario; and the same as edits of its text.
#include <algorithm>

#include "engine/base/yaml.h"
#include "engine/scenario/apply_settings.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/yaml_edit.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {
namespace {

constexpr std::string_view k_edited =
    "name: edited  # a comment\nmodel:\n  config: tiny-llama\n  sequence_length: 64\ncluster: {device: cpu, "
    "ranks: 2}\n"
    "parallel: {strategy: fsdp2}\n"
    "train:\n  micro_batch: 2\n  data: [a.txt,\n    b.txt]\n";

// One line, if it can be, into a text whose comments stay.
void edit(std::string_view key, std::string_view value) {
  const Result<std::string> text = set_yaml_value(k_edited, key, value);
  if (!text) return check_error(text.error());
  const Result<YamlNode> tree = parse_yaml(*text, "edited.yaml");
  promise(tree.has_value(), "an edited text is YAML:\n" + *text);
  const Result<std::string> without = unset_yaml_value(*text, key);
  promise(without.has_value(), "what was set can be unset:\n" + *text);
  promise(parse_yaml(*without, "edited.yaml").has_value(), "a text is YAML after a key went:\n" + *without);
}

}  // namespace

Answer read_overrides(std::string_view bytes) {
  std::vector<std::string> overrides;
  for (std::size_t begin = 0; begin < bytes.size() && overrides.size() < 8;) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    overrides.emplace_back(bytes.substr(begin, end - begin));
    begin = end + 1;
    const std::size_t equals = overrides.back().find('=');
    if (equals == std::string::npos) continue;
    edit(overrides.back().substr(0, equals), overrides.back().substr(equals + 1));
  }
  return answer_of(parse_scenario_with_source(k_edited, "input.yaml", overrides));
}

}  // namespace shardlab::fuzz
