// Findings that are known are left out, whatever their numbers; others, and worse ones, are not.
#include "engine/doctor/report/known_findings.h"

#include <nlohmann/json.hpp>

#include "tests/unit/doctor/log_blocks.h"

namespace shardlab {
namespace {

Examination examination_of(const std::string& key, Severity severity,
                           const std::string& rule = "speed/often") {
  Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  Evidence evidence{"a.yaml", "line 9, column 3", key + ": 4"};
  evidence.key = key;
  finding.evidence = {evidence, {"a.yaml", "prediction, peak", "61.2 GiB live"}};
  Examination examination;
  examination.source = "a.yaml";
  examination.findings = {finding};
  return examination;
}

// What is left of `found` beside what `known` has, read back from the file's text.
std::size_t left_of(Examination found, const Examination& known) {
  const std::string text = baseline_json(known_findings({known})).dump();
  const auto read = read_baseline(text, "known.json");
  REQUIRE_OK(read);
  std::vector<Examination> examinations = {std::move(found)};
  leave_out_known(examinations, *read);
  CHECK(examinations.front().known + static_cast<std::int64_t>(examinations.front().findings.size()) == 1);
  return examinations.front().findings.size();
}

TEST_CASE("a finding of a scenario is known by its rule and its keys, and comes back when it is worse") {
  const Examination warning = examination_of("train.accumulation", Severity::warning);
  CHECK(left_of(warning, warning) == 0);
  CHECK(left_of(examination_of("train.accumulation", Severity::info), warning) == 0);
  CHECK(left_of(examination_of("train.accumulation", Severity::error), warning) == 1);
  CHECK(left_of(examination_of("train.micro_batch", Severity::warning), warning) == 1);
  CHECK(left_of(examination_of("train.accumulation", Severity::warning, "speed/rare"), warning) == 1);
  Examination elsewhere = warning;
  elsewhere.source = "b.yaml";
  CHECK(left_of(elsewhere, warning) == 1);
}

TEST_CASE("a line of a log is known whatever its numbers") {
  const auto found = [](const std::string& text) {
    Examination examination = test::examine_text(text);
    examination.findings.resize(1);
    return examination;
  };
  const Examination known = found("[rank0]: RuntimeError: CUDA error: invalid device ordinal\n");
  CHECK(left_of(found("step 1\n\n[rank17]: RuntimeError: CUDA error: invalid device ordinal\n"), known) == 0);
  CHECK(left_of(found("[rank0]: AssertionError: Invalid device id\n"), known) == 1);
}

TEST_CASE("what is no baseline is refused") {
  for (const std::string text :
       {"", "{", "[]", R"({"baseline": 3})", R"({"baseline": [{"rule": "a/b"}]})",
        R"({"baseline": [{"rule": "a", "source": "s", "severity": "bad", "shows": []}]})",
        R"({"baseline": [{"rule": "a", "source": "s", "severity": "info", "shows": [3]}]})"}) {
    INFO(text);
    const auto read = read_baseline(text, "known.json");
    REQUIRE_FALSE(read);
    CHECK_THAT(to_string(read.error()), test::contains_text("known.json: is no baseline of the doctor"));
  }
  CHECK(read_baseline(R"({"baseline": []})", "known.json")->empty());
}

}  // namespace
}  // namespace shardlab
