// What widely shared guides say and the frameworks refute is advised by no rule, page or lesson.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "engine/doctor/registry.h"
#include "engine/doctor/report/rules_report.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/doctor/refuted.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// All that a rule says to whom it is shown to; what its signs look for is no advice.
std::string words_of(const Rule& rule) {
  std::string words = fmt::format("{} {} {} {}", rule.title, rule.message, rule.explanation, rule.fix.text);
  for (const std::string& set : rule.fix.set) words += " " + set;
  for (const LogSign& sign : rule.signs) words += fmt::format(" {} {}", sign.message, sign.fix);
  return words;
}

// By the path from the source tree. The page of rules is made of the rules.
std::map<std::string, std::string> pages_and_lessons() {
  std::map<std::string, std::string> texts;
  const fs::path source = test::source_folder();
  const auto take = [&](const fs::path& file) {
    std::ifstream stream(file);
    REQUIRE(stream);
    texts[fs::relative(file, source).generic_string()] = {std::istreambuf_iterator<char>(stream), {}};
  };
  take(source / "README.md");
  for (const auto& [folder, ending] : {std::pair("docs", ".md"), std::pair("scenarios/lessons", ".yaml")}) {
    for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
      if (entry.path().extension() == ending && entry.path().filename() != "rules.md") take(entry.path());
    }
  }
  return texts;
}

TEST_CASE("no rule says what the frameworks refute") {
  for (const Rule& rule : all_rules()) {
    for (const std::string& wrong : test::refuted_in(rule.id, words_of(rule))) FAIL_CHECK(wrong);
  }
}

TEST_CASE("no page and no lesson says what the frameworks refute") {
  const std::map<std::string, std::string> texts = pages_and_lessons();
  CHECK(texts.size() > 60);
  for (const auto& [file, text] : texts) {
    for (const std::string& wrong : test::refuted_in(file, text)) FAIL_CHECK(wrong);
  }
}

TEST_CASE("what is refuted is found, and only where nothing else is meant") {
  CHECK(test::refuted_in("docs/a.md", "export NCCL_TIMEOUT=7200").size() == 1);
  CHECK(test::refuted_in("docs/a.md", "the sharded\n  checkpoints   are smaller").size() == 1);
  CHECK(test::refuted_in("docs/allocator.md", "torch.cuda.empty_cache()").empty());
  CHECK(test::refuted_in("docs/a.md", "timeout=timedelta(hours=2) of init_process_group").empty());
}

TEST_CASE("every mention that is meant otherwise is still there") {
  const std::map<std::string, std::string> texts = pages_and_lessons();
  for (const test::Mention& mention : test::k_mentions) {
    INFO(mention.where << ": " << mention.text);
    const auto page = texts.find(std::string(mention.where));
    const auto rule = find_rule(mention.where);
    REQUIRE((page != texts.end() || rule));
    const std::string text = in_lower_case(" " + (page != texts.end() ? page->second : words_of(**rule)));
    CHECK(text.find(mention.text) != std::string::npos);
  }
}

TEST_CASE("the limit on gathers is a fix only where it is off") {
  for (const Rule& rule : all_rules()) {
    for (const std::string& set : rule.fix.set) {
      INFO(rule.id << " sets " << set);
      if (set == "parallel.prefetch.limit_all_gathers=true") CHECK(rule.id == "memory/gathers-not-limited");
    }
  }
}

TEST_CASE("sharded checkpoints have the same bytes, which the page of rules says") {
  CHECK(in_lower_case(rules_page()).find("same bytes in all, spread over ranks") != std::string::npos);
}

}  // namespace
}  // namespace shardlab
