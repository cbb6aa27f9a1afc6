#include "gui/view_model/doctor/findings_view.h"

#include "engine/doctor/registry.h"
#include "tests/catch.h"
#include "tests/unit/gui_view_model/loaded_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

Finding finding_with_fix() {
  Finding finding = finding_of(**find_rule("memory/gather-does-not-fit"));
  finding.severity = Severity::error;
  finding.ranks = {0, 2};
  finding.message = "It does not fit.";
  finding.fix = {FixKind::settings, {"train.micro_batch=2"}, "a smaller batch"};
  Cost before, after;
  before.peak = gibibytes(80);
  before.reserved = gibibytes(90);
  before.step_time = milliseconds(100);
  before.fits = false;
  after.peak = gibibytes(40);
  after.reserved = gibibytes(45);
  after.step_time = milliseconds(120);
  after.fits = true;
  finding.effect = Effect{before, after};
  return finding;
}

}  // namespace

TEST_CASE("a finding has a heading, its codes, its fix, and before and after") {
  Examination examination;
  examination.findings = {finding_with_fix()};
  const FindingsView view = scenario_findings(examination, nullptr);
  REQUIRE(view.cards.size() == 1);
  const FindingCard& card = view.cards.front();
  CHECK(card.heading == "error on ranks 0 and 2");
  CHECK(card.rule == "A-09, A-10 memory/gather-does-not-fit");
  CHECK_FALSE(card.why.empty());
  CHECK(card.can_apply);
  CHECK(card.verdict == "then it fits");
  REQUIRE(card.effect.size() == 4);
  CHECK(card.effect[0].what == "peak");
  CHECK(card.effect[0].before == "80.0 GiB");
  CHECK(card.effect[0].after == "40.0 GiB");
  CHECK(card.effect[0].change == "-50.0 %");
  CHECK(card.effect[0].is_better);
  CHECK(card.effect[1].what == "reserved");
  CHECK(card.effect[2].change == "+20.0 %");
  CHECK_FALSE(card.effect[2].is_better);
  CHECK(card.effect[3].change.empty());
  CHECK(view.counts == "1 error");
}

TEST_CASE("a fix that does not suffice says what lacks") {
  Finding finding = finding_with_fix();
  finding.effect->after.fits = false;
  finding.effect->after.too_much = gibibytes(3);
  Examination examination;
  examination.findings = {finding};
  CHECK(scenario_findings(examination, nullptr).cards.front().verdict ==
        "it still does not fit: 3.00 GiB too much");
}

TEST_CASE("only settings that were predicted can be applied") {
  Finding finding = finding_with_fix();
  finding.effect.reset();
  Examination examination;
  examination.findings = {finding, finding_with_fix()};
  examination.findings.back().fix.kind = FixKind::environment;
  for (const FindingCard& card : scenario_findings(examination, nullptr).cards) CHECK_FALSE(card.can_apply);
}

TEST_CASE("evidence leads to an instruction in words, a setting, a line of a log, or nowhere") {
  const LoadedRun run = loaded_run(1, RunKind::predicted);
  Finding finding;
  Evidence of_instruction{"s.yaml", "plan, instruction 0", "3 GiB"};
  of_instruction.instruction = InstructionId{0};
  Evidence of_setting{"s.yaml", "line 3, column 4", "train.micro_batch: 8"};
  of_setting.key = "train.micro_batch";
  of_setting.line = 3;
  const Evidence of_figure{"s.yaml", "prediction, reserved", "90 GiB"};
  Evidence elsewhere = of_instruction;
  elsewhere.instruction = InstructionId{1'000'000};
  finding.evidence = {of_instruction, of_setting, of_figure, elsewhere};
  Examination examination;
  examination.findings = {finding};

  const auto lines = scenario_findings(examination, &run).cards.front().evidence;
  CHECK(lines[0].link == run.words().instruction(InstructionId{0}));
  CHECK(lines[0].text == "plan, instruction 0: 3 GiB");
  CHECK(lines[0].instruction == InstructionId{0});
  CHECK(lines[1].link == "train.micro_batch: 8");
  CHECK(lines[1].text == "line 3, column 4");
  CHECK(lines[1].setting == "train.micro_batch");
  CHECK(lines[1].line == 0);
  CHECK_FALSE(lines[2].leads_somewhere());
  CHECK_FALSE(lines[3].leads_somewhere());

  const auto of_log = log_findings(examination).cards.front().evidence;
  CHECK(of_log[1].line == 3);
  CHECK(of_log[1].link == "line 3, column 4");
  CHECK_FALSE(of_log[0].leads_somewhere());
}

TEST_CASE("where nothing is wrong it is said by how many rules, and why others were not looked for") {
  Examination examination;
  examination.skipped = {{"a/a", "needs a log"}, {"b/b", "is advice"}, {"c/c", "needs a log"}};
  const FindingsView view = scenario_findings(examination, nullptr);
  CHECK(view.cards.empty());
  CHECK(view.counts == "Nothing found by " + std::to_string(all_rules().size() - 3) + " rules");
  CHECK(view.skipped_words == "3 rules were skipped");
  REQUIRE(view.skipped.size() == 2);
  CHECK(view.skipped[0].rules == std::vector<std::string>{"a/a", "c/c"});
  examination.skipped.resize(1);
  CHECK(scenario_findings(examination, nullptr).skipped_words == "1 rule was skipped");
}
