#include "engine/formats/chrome_trace.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/formats/small_run.h"

namespace shardlab {
namespace {

nlohmann::json events_of(std::span<const TracedRun> runs) {
  return nlohmann::json::parse(chrome_trace(runs)).at("traceEvents");
}

nlohmann::json of_phase(const nlohmann::json& events, const std::string& phase) {
  nlohmann::json found = nlohmann::json::array();
  for (const auto& event : events) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

TEST_CASE("every instruction becomes a slice on its stream, host instructions on the host's track") {
  const StepPlan plan = test::small_plan();
  const StepTrace trace = test::small_trace(1);
  const std::vector<TracedStep> steps = {{plan, trace}};
  const std::vector<TracedRun> runs = {{"measured", steps}};
  const auto slices = of_phase(events_of(runs), "X");
  REQUIRE(slices.size() == 4);
  CHECK(slices[0].at("tid") == 2);
  CHECK(slices[0].at("ts") == 0.1);
  CHECK(slices[0].at("dur") == 1.134);
  CHECK(slices[0].at("args").at("reads") == "gathered.root");
  CHECK(slices[0].at("args").at("bytes") == 48);
  CHECK(slices[1].at("tid") == 1);
  CHECK(slices[2].at("tid") == 0);
  CHECK(slices[3].at("cat") == "Forward");
}

TEST_CASE("an event says in words what it does, where the words are given") {
  const StepPlan plan = test::small_plan();
  const StepTrace trace = test::small_trace(1);
  std::vector<std::string> words(plan.instructions.size(), "all-gather of \"layer\" 0");
  const std::vector<TracedStep> with = {{plan, trace, words}}, without = {{plan, trace}};
  const std::vector<TracedRun> runs = {{"measured", with}}, plain = {{"measured", without}};
  CHECK(of_phase(events_of(runs), "X")[0].at("args").at("does") == "all-gather of \"layer\" 0");
  CHECK_FALSE(of_phase(events_of(plain), "X")[0].at("args").contains("does"));
}

TEST_CASE(
    "a wait on another stream is an arrow from inside the slice waited for to the start of the one that "
    "waited") {
  const StepPlan plan = test::small_plan();
  const StepTrace trace = test::small_trace(1);
  const std::vector<TracedStep> steps = {{plan, trace}};
  const std::vector<TracedRun> runs = {{"measured", steps}};
  const auto events = events_of(runs);
  const auto begins = of_phase(events, "s");
  const auto ends = of_phase(events, "f");
  REQUIRE(begins.size() == 1);
  REQUIRE(ends.size() == 1);
  CHECK(begins[0].at("ts") == 1.233);
  CHECK(begins[0].at("tid") == 2);
  CHECK(ends[0].at("ts") == 1.3);
  CHECK(begins[0].at("id") == ends[0].at("id"));
}

TEST_CASE("memory is a counter by class at the issue of the instruction") {
  const StepPlan plan = test::small_plan();
  const StepTrace trace = test::small_trace(1);
  const std::vector<TracedStep> steps = {{plan, trace}};
  const std::vector<TracedRun> runs = {{"predicted", steps}};
  const auto counters = of_phase(events_of(runs), "C");
  REQUIRE(counters.size() == 1);
  CHECK(counters[0].at("ts") == 0.01);
  CHECK(counters[0].at("args").at("gather_buffer") == 48);
  CHECK(counters[0].at("args").at("gradient") == 0);
}

TEST_CASE("steps follow one another, runs lie side by side as processes of their own") {
  const StepPlan plan = test::small_plan();
  const StepTrace one = test::small_trace(1), two = test::small_trace(2);
  const std::vector<TracedStep> both = {{plan, one}, {plan, two}};
  const std::vector<TracedStep> first = {{plan, one}};
  const std::vector<TracedRun> runs = {{"predicted", first}, {"measured", both}};
  const auto events = events_of(runs);
  const auto slices = of_phase(events, "X");
  REQUIRE(slices.size() == 12);
  CHECK(slices[4].at("pid") == 2);
  CHECK(slices[4].at("ts") == 0.1);
  CHECK(slices[8].at("ts") == 5.1);  // a step lasts 5000 ns
  std::vector<std::string> processes;
  for (const auto& event : of_phase(events, "M")) {
    if (event.at("name") == "process_name") processes.push_back(event.at("args").at("name"));
  }
  CHECK(processes == std::vector<std::string>{"predicted rank 0", "measured rank 0"});
}

TEST_CASE("no runs are a valid empty trace") {
  CHECK(events_of({}).empty());
}

TEST_CASE("quotes in names do not break the JSON") {
  StepPlan plan = test::small_plan();
  plan.buffers[0].name = "a\"b\\c";
  const StepTrace trace = test::small_trace(1);
  const std::vector<TracedStep> steps = {{plan, trace}};
  const std::vector<TracedRun> runs = {{"measured", steps}};
  CHECK(of_phase(events_of(runs), "X")[0].at("args").at("writes") == "a\"b\\c");
}

}  // namespace
}  // namespace shardlab
