// Programs: what shows each rule, and what only looks like it (tests/data/doctor/programs.txt).
#include <map>
#include <set>

#include "engine/doctor/program/read_program.h"
#include "tests/unit/doctor/log_blocks.h"

namespace shardlab {
namespace {

Examination examine_program(const TrainingProgram& program) {
  Case known;
  known.source = "train.py";
  known.program = &program;
  return examine(known, all_rules());
}

TEST_CASE("what a program says shows a rule, and a near miss does not") {
  std::map<std::string, std::set<bool>> tried;
  for (const test::LogBlock& block : test::log_blocks("programs.txt")) {
    const bool is_near = block.head.front() == "near";
    const std::string rule = block.head.back();
    INFO(rule << ": " << block.source << "\n" << block.text);
    REQUIRE(find_rule(rule));
    tried[rule].insert(is_near);
    const Examination found = examine_program({read_program(block.text, "train.py")});
    const Finding* finding = test::finding_of_rule(found, rule);
    CHECK((finding == nullptr) == is_near);
    if (finding != nullptr) CHECK_FALSE(finding->evidence.empty());
  }
  for (const Rule& rule : all_rules()) {
    INFO(rule.id);
    if (is_checked(rule, Need::program)) CHECK(tried[std::string(rule.id)].size() == 2);
  }
}

TEST_CASE("statements over several lines are one, in one spelling, without comments") {
  const ProgramFile read = read_program(
      "import torch  # first\n\"\"\"A text\nover lines.\"\"\"\ndef f(a,\n      b):\n    '''doc'''\n"
      "    return g( a,  # here\n              [ 1,\n                2 ] , 'a # b' )\n\nx = 1 \\\n  + 2\n",
      "a.py");
  REQUIRE(read.lines.size() == 4);
  CHECK(read.lines[0].text == "import torch");
  CHECK(read.lines[1].text == "def f(a,b):");
  CHECK(read.lines[1].number == 4);
  CHECK(read.lines[2].text == "return g(a,[1,2],'a # b')");
  CHECK(read.lines[2].number == 7);
  CHECK(read.lines[2].function == 4);
  CHECK(read.lines[3].text == "x=1+2");
  CHECK(read.lines[3].function == 0);
  CHECK(read.lines[3].number == 11);
}

TEST_CASE("mutated programs give findings or none, never a failure") {
  std::mt19937 random(20261128);
  std::size_t mutations = 0;
  for (const test::LogBlock& block : test::log_blocks("programs.txt")) {
    for (int round = 0; round < 60; ++round, ++mutations)
      (void)examine_program({read_program(test::mutated(block.text, random), "train.py")});
  }
  CHECK(mutations > 1000);
  CHECK(read_program("", "a.py").lines.empty());
  CHECK(read_program("'''", "a.py").lines.empty());
  CHECK(read_program("((((", "a.py").lines.size() == 1);
}

}  // namespace
}  // namespace shardlab
