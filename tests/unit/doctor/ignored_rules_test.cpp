// What a scenario's comments leave out: a rule, or what it finds at one key.
#include "engine/doctor/examine.h"

#include "engine/doctor/job/job_facts.h"
#include "engine/scenario/source.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

std::vector<Finding> find_at_accumulation(const Rule& rule, const Case&) {
  Finding finding = finding_of(rule);
  Evidence evidence{"a.yaml", "line 9, column 3", "train.accumulation: 4"};
  evidence.key = "train.accumulation";
  finding.evidence = {evidence};
  return {finding};
}

Rule rule_called(std::string_view id, std::string_view code) {
  Rule rule;
  rule.id = id;
  rule.codes = {code};
  rule.checks = {{.needs = {Need::configuration}, .run = find_at_accumulation}};
  return rule;
}

Examination examined(std::vector<DoctorComment> comments, const std::vector<std::string>& ignored = {}) {
  ScenarioSource source("a.yaml");
  source.keep_comments(std::move(comments));
  JobFacts job{};
  job.source = &source;
  Case known;
  known.job = &job;
  return examine(known, {rule_called("speed/often", "E-16"), rule_called("speed/rare", "E-17")}, ignored);
}

TEST_CASE("a comment above all keys leaves its rules out, by id or by code") {
  const Examination found = examined({{"ignore e-16, speed/rare", 1, ""}});
  CHECK(found.findings.empty());
  REQUIRE(found.skipped.size() == 2);
  CHECK(found.skipped[0] == Skipped{"speed/often", "is ignored"});
  CHECK(found.note.empty());
  CHECK(examined({}, {"E-16"}).findings.size() == 1);
}

TEST_CASE("a comment at a key leaves out what is found there, and at its section too") {
  for (const std::string key : {"train.accumulation", "train"}) {
    const Examination found = examined({{"ignore E-16", 9, key}});
    INFO(key);
    REQUIRE(found.findings.size() == 1);
    CHECK(found.findings.front().rule == "speed/rare");
    CHECK(found.skipped.front().why == "is ignored at " + key + ", line 9");
  }
  CHECK(examined({{"ignore E-16", 9, "train.acc"}}).findings.size() == 2);
  CHECK(examined({{"ignore E-16", 9, "parallel"}}).findings.size() == 2);
}

TEST_CASE("a comment that names no rule, or stands nowhere, is told") {
  const Examination misspelt = examined({{"ignore E-61", 3, ""}});
  CHECK(misspelt.findings.size() == 2);
  CHECK(misspelt.note ==
        "a.yaml line 3: no rule or code is called 'E-61'; `shardlab doctor --rules` lists them.");
  CHECK_THAT(examined({{"ignore E-16", 20, {}}}).note, test::contains_text("stands at no key"));
  CHECK_THAT(examined({{"leave E-16 alone", 3, ""}}).note, test::contains_text("ignore RULE, RULE"));
}

}  // namespace
}  // namespace shardlab
