// Every setting of a scenario is in a table of every target, so that none is dropped in silence.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "engine/formats/tools/comment_block.h"
#include "engine/formats/tools/export_target.h"
#include "engine/formats/tools/module_patterns.h"
#include "engine/scenario/unsupported.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

// A row for a section speaks of all of its keys, a row for a key of what lies below it.
bool speaks_of(std::string_view row, std::string_view key) {
  const auto within = [](std::string_view inner, std::string_view outer) {
    return inner == outer ||
           (inner.starts_with(outer) && (inner[outer.size()] == '.' || inner[outer.size()] == '['));
  };
  return !row.empty() && within(key, row);
}

bool is_in_a_table(const ExportTarget& target, std::string_view key) {
  for (const ToolTable& table : target.keys) {
    if (std::any_of(table.keys.begin(), table.keys.end(),
                    [&](const ToolKey& row) { return speaks_of(row.setting, key); }))
      return true;
  }
  for (const auto& rules : target.rules) {
    if (std::any_of(rules.begin(), rules.end(),
                    [&](const SettingRule& row) { return speaks_of(row.setting, key); }))
      return true;
  }
  return false;
}

bool is_a_setting(std::string_view row) {
  const auto keys = all_keys();
  return std::any_of(keys.begin(), keys.end(),
                     [&](const MarkedKey& key) { return speaks_of(row, key.path); });
}

TEST_CASE("exports: every setting is in a table of every target") {
  for (const ExportTarget& target : export_targets()) {
    for (const MarkedKey& key : all_keys()) {
      CAPTURE(target.name, key.path);
      CHECK(is_in_a_table(target, key.path));
    }
  }
}

TEST_CASE("exports: tables speak of settings that there are") {
  for (const ExportTarget& target : export_targets()) {
    CAPTURE(target.name);
    for (const ToolTable& table : target.keys) {
      for (const ToolKey& row : table.keys) {
        CAPTURE(row.key, row.setting);
        CHECK((row.setting.empty() || is_a_setting(row.setting)));
        CHECK(!row.absent.empty());
      }
    }
    for (const auto& rules : target.rules) {
      for (const SettingRule& row : rules) {
        CAPTURE(row.setting);
        CHECK(is_a_setting(row.setting));
        CHECK((row.instead == nullptr || !row.why.empty()));
      }
    }
  }
}

TEST_CASE("exports: docs/formats.md is what the tables say") {
  std::ifstream stream(test::source_folder() / "docs/formats.md", std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(stream), {}};
  INFO("to renew it: shardlab export --document > docs/formats.md");
  const bool same = committed == export_reference();
  CHECK(same);
}

TEST_CASE("exports: words that YAML 1.1 reads as something else are quoted") {
  const ToolValue tree{{"mixed_precision", "no"}, {"port", "29500"}, {"host", "10.0.0.1"},
                       {"policy", "NO_WRAP"},     {"flag", true},    {"count", 3}};
  CHECK(tool_yaml(tree) ==
        "mixed_precision: \"no\"\nport: \"29500\"\nhost: \"10.0.0.1\"\npolicy: NO_WRAP\nflag: true\ncount: "
        "3\n");
}

TEST_CASE("exports: path patterns as regular expressions") {
  CHECK(regular_expression(std::vector<std::string>{"model.layers.*", "**.b?as"}) ==
        R"(model\.layers\.[^.]*|.*\.b[^.]as)");
}

TEST_CASE("exports: a comment stays a comment, whatever its text") {
  CHECK(comment_block(std::vector<std::string>{"a\nrm -rf b"}) == "# a rm -rf b\n");
  const std::string wrapped =
      comment_block(std::vector<std::string>{std::string(90, 'x') + " " + std::string(20, 'y')});
  CHECK(wrapped == "# " + std::string(90, 'x') + "\n#   " + std::string(20, 'y') + "\n");
}

}  // namespace
}  // namespace shardlab
