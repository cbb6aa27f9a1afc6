// Messages that programs really printed, and what the doctor says first.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/doctor/unknown_failure.h"
#include "tests/unit/doctor/log_blocks.h"

namespace shardlab {
namespace {

using test::LogBlock;

struct Score {
  int messages = 0, first = 0, among_three = 0, healthy = 0, quiet = 0;
  std::string missed;
};

// `unknown` is expected where no rule is about the failure, which must then be told as one.
bool is_expected(const Finding& finding, const LogBlock& block) {
  if (finding.rule == k_unknown_rule && finding.severity != Severity::info)
    return std::find(block.head.begin(), block.head.end(), "unknown") != block.head.end();
  return std::any_of(finding.codes.begin(), finding.codes.end(), [&](const std::string& code) {
    return std::find(block.head.begin(), block.head.end(), code) != block.head.end();
  });
}

Score score_of(const std::string& file) {
  Score score;
  for (const LogBlock& block : test::log_blocks(file)) {
    const Examination found = test::examine_text(block.text);
    if (block.head.front() == "healthy") {
      ++score.healthy;
      score.quiet += !is_above_info(found);
      if (is_above_info(found)) score.missed += "\n  not quiet: " + block.text;
      continue;
    }
    ++score.messages;
    const std::size_t three = std::min<std::size_t>(3, found.findings.size());
    const auto end = found.findings.begin() + static_cast<std::ptrdiff_t>(three);
    const bool known =
        std::any_of(found.findings.begin(), end, [&](const Finding& f) { return is_expected(f, block); });
    const bool first = three > 0 && is_expected(found.findings.front(), block);
    score.first += first;
    score.among_three += known;
    if (!first) score.missed += fmt::format("\n  {} not first: {}", fmt::join(block.head, " "), block.text);
  }
  std::cout << fmt::format(
      "{}: expected code first in {} of {} ({:.1f} %), among the first three in {}; {} of {} healthy logs "
      "quiet\n",
      file, score.first, score.messages, 100.0 * score.first / score.messages, score.among_three, score.quiet,
      score.healthy);
  return score;
}

TEST_CASE("messages on which the rules were developed are named") {
  const Score score = score_of("messages.txt");
  INFO(score.missed);
  CHECK(score.first >= 0.95 * score.messages);
  CHECK(score.among_three == score.messages);
  CHECK(score.quiet == score.healthy);
}

TEST_CASE("messages of other projects, for which rules were mended, are named") {
  const Score score = score_of(GENERATE("other_projects.txt", "raised_messages.txt"));
  INFO(score.missed);
  CHECK(score.first == score.messages);
  CHECK(score.quiet == score.healthy);
}

TEST_CASE("messages that were gathered later are named") {
  const Score score = score_of(
      GENERATE("later_messages.txt", "latest_messages.txt", "thread_messages.txt", "public_messages.txt"));
  INFO(score.missed);
  CHECK(score.first >= 0.85 * score.messages);
  CHECK(score.among_three >= 0.95 * score.messages);
  CHECK(score.quiet == score.healthy);
}

}  // namespace
}  // namespace shardlab
