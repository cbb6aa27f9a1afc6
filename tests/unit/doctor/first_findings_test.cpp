// What is said first of a log: the rule, how severe it is, and what its message and its fix are about.
#include "engine/base/lower_case.h"
#include "engine/base/words.h"
#include "tests/unit/doctor/log_blocks.h"

namespace shardlab {
namespace {

TEST_CASE("what is said first is the cause, as severe as it is, with the fix that is its own") {
  for (const test::LogBlock& block : test::log_blocks("first_findings.txt")) {
    INFO(block.source << "\n" << block.text);
    REQUIRE(block.head.size() >= 3);
    const Examination found = test::examine_text(block.text);
    REQUIRE_FALSE(found.findings.empty());
    const Finding& first = found.findings.front();
    CHECK(first.rule == block.head[0]);
    CHECK(to_string(first.severity) == block.head[1]);
    const std::string said = in_lower_case(first.message + " " + first.fix.text);
    for (std::size_t i = 2; i < block.head.size(); ++i) {
      const bool must_not = block.head[i].starts_with('!');
      const std::string word = in_lower_case(block.head[i].substr(must_not ? 1 : 0));
      INFO(block.head[i] << " in: " << said);
      CHECK((said.find(word) == std::string::npos) == must_not);
    }
  }
}

}  // namespace
}  // namespace shardlab
