#include "engine/doctor/registry.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "tests/catch.h"

namespace shardlab {
namespace {

// The tables that codes come from: how many rows each has.
const std::map<char, int> k_tables = {{'A', 20}, {'B', 26}, {'C', 34}, {'D', 31},
                                      {'E', 44}, {'X', 22}, {'S', 8},  {'Y', 23}};

TEST_CASE("every code of the tables belongs to exactly one rule") {
  std::map<std::string, int> rules_of;
  for (const Rule& rule : all_rules()) {
    for (const std::string_view code : rule.codes) ++rules_of[std::string(code)];
  }
  std::size_t rows = 0;
  for (const auto& [table, count] : k_tables) {
    for (int row = 1; row <= count; ++row, ++rows) {
      const std::string code = fmt::format("{}-{:02}", table, row);
      INFO(code);
      CHECK(rules_of[code] == 1);
    }
  }
  CHECK(rules_of.size() == rows);  // no code that no table has
  CHECK(rows == 208);
}

TEST_CASE("a rule is complete, and its id says its topic") {
  std::set<std::string_view> ids;
  for (const Rule& rule : all_rules()) {
    INFO(rule.id);
    CHECK(ids.insert(rule.id).second);
    CHECK(rule.id.find('/') != std::string_view::npos);
    CHECK_FALSE(rule.codes.empty());
    CHECK_FALSE(rule.title.empty());
    CHECK_FALSE(rule.source.empty());
    CHECK_FALSE(rule.message.empty());
    CHECK_FALSE(rule.explanation.empty());
    CHECK_FALSE(rule.fix.text.empty());
    CHECK_FALSE(rule.example.empty());
    CHECK((rule.message.ends_with('.') && rule.explanation.ends_with('.')));
  }
}

TEST_CASE("what a check needs is among what its rule can be read from") {
  for (const Rule& rule : all_rules()) {
    INFO(rule.id);
    const auto known = [&](Need need) {
      return std::find(rule.needs.begin(), rule.needs.end(), need) != rule.needs.end();
    };
    if (!rule.signs.empty()) CHECK(known(Need::log));
    for (const RuleCheck& check : rule.checks) {
      CHECK(check.run != nullptr);
      CHECK_FALSE(check.needs.empty());
      for (const Need need : check.needs) CHECK(known(need));
    }
  }
}

TEST_CASE("a rule is found by its id and by each of its codes") {
  const auto by_id = find_rule("memory/fragmentation");
  REQUIRE(by_id);
  const auto by_code = find_rule("c-09");
  REQUIRE(by_code);
  CHECK(*by_id == *by_code);
  const auto unknown = find_rule("memory/fragmentatoin");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().hint == "did you mean 'memory/fragmentation'?");
}

}  // namespace
}  // namespace shardlab
