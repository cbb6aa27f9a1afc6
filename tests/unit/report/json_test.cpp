#include "engine/report/json.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

using namespace shardlab;
using Json = nlohmann::ordered_json;

TEST_CASE("the JSON of a run begins with its id") {
  RunSummary summary;
  summary.plan_hash = "abc";
  const Json stored = run_json(summary, RunId{12});
  CHECK(stored.begin().key() == "run_id");
  CHECK(stored["run_id"] == "r12");
  CHECK(stored["plan_hash"] == "abc");
  CHECK(run_json(summary, std::nullopt)["run_id"].is_null());
}

TEST_CASE("the JSON of a comparison") {
  Comparison comparison;
  comparison.metrics = {
      {"step_time", MetricUnit::nanoseconds, 11, 10, 0.1, 0.2, Verdict::pass},
      {"mfu", MetricUnit::fraction, std::nullopt, 0.4, std::nullopt, std::nullopt, Verdict::not_judged}};
  comparison.instructions = {{InstructionId{4}, InstructionKind::Backward, "4 Backward s0", {5}, {8}, 0.5}};
  comparison.verdict = Verdict::pass;
  const Json json = comparison_json(comparison, {{"run_id", "r1"}}, {{"run_id", "r2"}});
  CHECK(json["predicted"]["run_id"] == "r1");
  CHECK(json["measured"]["run_id"] == "r2");
  CHECK(json["verdict"] == "pass");
  CHECK(json["metrics"][0] == Json({{"name", "step_time"},
                                    {"unit", "ns"},
                                    {"predicted", 11.0},
                                    {"measured", 10.0},
                                    {"error", 0.1},
                                    {"tolerance", 0.2},
                                    {"verdict", "pass"}}));
  CHECK(json["metrics"][1]["predicted"].is_null());
  CHECK(json["instructions"][0]["difference_ns"] == -3);
  CHECK(json["memory_difference"].is_null());
  CHECK(json["times_not_judged"].is_null());
  comparison.times_not_judged = "a storm";
  CHECK(comparison_json(comparison, {}, {})["times_not_judged"] == "a storm");
}

TEST_CASE("the JSON of a listed run") {
  RunEntry entry;
  entry.id = {3};
  entry.tags = {"a"};
  const Json json = entry_json(entry);
  CHECK(json["run_id"] == "r3");
  CHECK(json["kind"] == "predicted");
  CHECK(json["tags"] == Json({"a"}));
  CHECK(json["peak_allocated"].is_null());
}
