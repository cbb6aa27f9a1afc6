// Every rule that logs show fires on its own example, and not on a text that only looks like it.
#include <set>

#include "tests/unit/doctor/log_blocks.h"

namespace shardlab {
namespace {

using test::examine_text;
using test::finding_of_rule;

TEST_CASE("the example of a rule that logs show triggers it") {
  for (const Rule& rule : all_rules()) {
    if (!is_checked(rule, Need::log)) continue;
    INFO(rule.id);
    const Examination found = examine_text(std::string(rule.example));
    const Finding* finding = finding_of_rule(found, rule.id);
    REQUIRE(finding != nullptr);
    CHECK_FALSE(finding->evidence.empty());
    CHECK((finding->severity == rule.severity || finding->severity == Severity::info));
  }
}

TEST_CASE("a near miss does not trigger the rule") {
  std::set<std::string> tried;
  for (const test::LogBlock& block : test::log_blocks("near_misses.txt")) {
    const std::string rule = block.head.front();
    INFO(rule << ": " << block.text);
    REQUIRE(find_rule(rule));
    tried.insert(rule);
    const Examination found = examine_text(block.text);
    const Finding* finding = finding_of_rule(found, rule);
    CHECK((finding == nullptr || finding->severity == Severity::info));
  }
  for (const Rule& rule : all_rules()) {
    INFO(rule.id);
    if (is_checked(rule, Need::log)) CHECK(tried.contains(std::string(rule.id)));
  }
}

}  // namespace
}  // namespace shardlab
