// The reference of all keys, written from the tables that read them.
#include <string>
#include <vector>

#include <fmt/core.h>

#include "engine/scenario/keys/sections.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/unsupported.h"

namespace shardlab {
namespace {

constexpr std::string_view k_introduction = R"(# Scenario files

This page is generated from the tables that read scenarios (`engine/scenario/keys`); `shardlab scenario --document` prints it.

A scenario is one YAML file that says everything that decides what a training step does and where: the model, the cluster, who owns
which part of the state, precision, training. All keys are optional unless marked *required*. Unknown keys, unknown names, values out of
range and settings that would have no effect are errors, with their line and column. `--set key=value` replaces any value, with the key
in dots: `--set parallel.strategy=ddp`, `--set 'train.betas=[0.9, 0.95]'`.

What is known and not built yet is marked *not supported yet*, with the nearest that works; a scenario that says it is refused with the
same words.

## Values

| Type | Written as |
| --- | --- |
| integer | `4096`, `1_000`, `5e8`; k, M, G (or B) and T are decimal (`8k` is 8000), Ki to Ti binary (`8Ki` is 8192) |
| number | `0.5`, `1e-4` |
| fraction | `2%` or `0.02` |
| size | `25MiB`, `80GB`, or a number of bytes; KiB, MiB, GiB, TiB are powers of 1024, KB, MB, GB, TB of 1000 |
| rate | a size per second: `3.5GB/s` |
| time | `30s`, `1.5ms`: ns, us, ms, s, min, h; the unit is required |
| true or false | `true`, `false` |
| dtype | `float32`, `bfloat16`, `float16` |
| word, text | a word of the list; any text |
| list | `[a, b]`; a single value stands for a list of one |

Optional values can be unset with `none`. Paths are relative to the folder of the scenario file; a path that begins with `assets/` is also
looked up among the files that come with shardlab.

## Keys
)";

// A pipe would end the cell of a table.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string row(const MarkedKey& line) {
  std::string values = line.type;
  if (!line.values.text.empty()) values += ": " + line.values.text;
  std::string meaning = line.help;
  const OnlyWith& condition = line.condition;
  if (!condition.key.empty())
    meaning += fmt::format(" (only with {} {})", condition.key, kind::joined(condition.values));
  if (!line.unsupported.empty()) meaning += fmt::format("; *{}*", line.unsupported);
  const bool is_value = !line.default_value.empty() && line.default_value.find(' ') == std::string::npos &&
                        line.default_value != "required";
  const std::string shown = is_value ? "`" + line.default_value + "`" : line.default_value;
  return fmt::format("| `{}` | {} | {} | {} |\n", line.path, cell(values), cell(shown), cell(meaning));
}

}  // namespace

std::string scenario_reference() {
  std::string text(k_introduction);
  std::string current = "\n";  // no section has this name
  for (const MarkedKey& line : all_keys()) {
    const std::size_t dot = line.path.find('.');
    const bool first_keys = dot == std::string::npos && (current == "\n" || current.empty());
    const std::string top = first_keys ? "" : line.path.substr(0, dot);
    if (top != current) {
      text += top.empty() ? "\n" : fmt::format("\n### {}\n\n", top);
      text += "| Key | Values | Default | Meaning |\n| --- | --- | --- | --- |\n";
      current = top;
    }
    text += row(line);
  }
  return text;
}

}  // namespace shardlab
