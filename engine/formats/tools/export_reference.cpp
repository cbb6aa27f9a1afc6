// docs/formats.md, written from the tables that the exports use.
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/formats/deepspeed/deepspeed_target.h"
#include "engine/formats/tools/export_target.h"

namespace shardlab {
namespace {

constexpr std::string_view k_introduction = R"(# Files of other tools

This page is generated from the tables by which `shardlab export` writes (`engine/formats`); `shardlab export --document` prints it.

`shardlab export S --to TARGET` writes a scenario as the files of another tool, by what the named version does. A setting that the file
cannot say is a **difference** of one of three kinds:

- *lost*: the scenario asks for something that the file cannot say. Nothing is written and the exit code is 1, unless `--accept KEY` takes it;
- *added*: the tool does something that the scenario does not ask for;
- *elsewhere*: the program decides, or the shell; the line is shown.

What the files really run is the scenario with its lost and added settings replaced. It is predicted beside the scenario itself, as a whole
and with each setting alone; a setting that is not built yet is left out and named. `tests/peers/export_loaders.py` reads what is written
with the tools' own loaders and compares what is in effect with that scenario.
)";

// A pipe would end the cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string code(std::string_view text) {
  return text.empty() ? "" : fmt::format("`{}`", text);
}

std::string keys_of(const ToolTable& table) {
  const std::string where = table.section.empty() ? "" : fmt::format(" in `{}`", table.section);
  std::string text = fmt::format("\n| Key{} | Says | Where it is left out |\n| --- | --- | --- |\n", where);
  for (const ToolKey& key : table.keys)
    text += fmt::format("| {} | {} | {} |\n", code(key.key), code(key.setting), cell(key.absent));
  return text;
}

std::string rules_of(const ExportTarget& target) {
  std::string rows;
  std::vector<std::string> elsewhere;
  for (const auto& rules : target.rules) {
    for (const SettingRule& rule : rules) {
      if (rule.instead == nullptr) continue;
      if (rule.kind == DifferenceKind::elsewhere) {
        elsewhere.push_back(code(rule.setting));
      } else {
        rows += fmt::format("| {} | {} | {} |\n", code(rule.setting), to_string(rule.kind), cell(rule.why));
      }
    }
  }
  std::string text;
  if (!rows.empty()) text += "\n| Not said | Kind | Why |\n| --- | --- | --- |\n" + rows;
  if (!elsewhere.empty()) text += fmt::format("\nElsewhere: {}.\n", fmt::join(elsewhere, ",\n"));
  return text;
}

}  // namespace

std::string export_reference() {
  std::string text(k_introduction);
  for (const ExportTarget& target : export_targets()) {
    text += fmt::format("\n## {}\n\nOf version {}: {}.\n", target.name, target.version, target.help);
    for (const ToolTable& table : target.keys) {
      const bool is_lent = target.keys.size() > 1 && table.keys.data() == deepspeed_keys().data();
      text += is_lent ? "\nUnder ZeRO, the keys of [deepspeed](#deepspeed) in a file of their own.\n"
                      : keys_of(table);
    }
    text += rules_of(target);
  }
  return text;
}

}  // namespace shardlab
