#include "engine/formats/trace_csv.h"

#include <sstream>

#include "tests/catch.h"
#include "tests/unit/formats/small_run.h"

namespace shardlab {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("one line an instruction, empty fields for what is absent") {
  const StepPlan plan = test::small_plan();
  const StepTrace trace = test::small_trace(7);
  const std::vector<TracedStep> steps = {{plan, trace}};
  const std::vector<TracedRun> runs = {{"measured", steps}};
  const auto lines = lines_of(trace_csv(runs));
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].substr(0, 14) == "run,step,rank,");
  CHECK(lines[1] == "measured,7,0,0,AllGather,all_gather,root,,,48,10,10,100,1234,false,48,64");
  CHECK(lines[4] == "measured,7,0,3,Forward,compute,,,0,0,40,40,2000,5000,true,,");
}

TEST_CASE("every line has as many fields as the header") {
  const StepPlan plan = test::small_plan();
  const StepTrace trace = test::small_trace(1);
  const std::vector<TracedStep> steps = {{plan, trace}};
  const std::vector<TracedRun> runs = {{"predicted", steps}};
  for (const std::string& line : lines_of(trace_csv(runs)))
    CHECK(std::count(line.begin(), line.end(), ',') == 16);
}

TEST_CASE("a field with a comma is quoted") {
  StepPlan plan = test::small_plan();
  plan.streams[1].name = "all,gather\"x\"";
  const StepTrace trace = test::small_trace(1);
  const std::vector<TracedStep> steps = {{plan, trace}};
  const std::vector<TracedRun> runs = {{"predicted", steps}};
  CHECK_THAT(trace_csv(runs), test::contains_text("\"all,gather\"\"x\"\"\""));
}

}  // namespace
}  // namespace shardlab
