#include "engine/trace/run_summary_json.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

RunSummary full_summary() {
  RunSummary run;
  run.kind = RunKind::measured;
  run.plan_hash = "abc";
  run.ranks = 2;
  run.step_time = {{20}, {10}, {30}, 3};
  run.tokens_per_second = 1234.5;
  run.tokens_per_second_per_gpu = 617.25;
  run.mfu = 0.41;
  run.exposed_communication = {5};
  run.communication = {{InstructionKind::AllGather, 2, 7, {7000}, {7000}, Bytes{6999}},
                       {InstructionKind::AllReduce, 2, 1, {8}, {16}}};
  run.transfers = {{MemorySpace::pinned_host, MemorySpace::device, 3, {300}}};
  run.volume = CommunicationVolume{2.9, 3};
  run.skipped_steps = 2;
  run.memory.emplace();
  run.memory->peak_allocated = {1000};
  run.memory->peak_reserved = Bytes{2000};
  run.memory->by_class[static_cast<std::size_t>(BufferClass::activation)] = {900};
  run.memory->peak_instruction = {13};
  run.memory->peak_label = "13 Forward s4 mb0";
  run.memory->peak_rank = 1;
  run.memory->peak_step = 4;
  run.memory->phases = {Bytes{1000}, Bytes{800}, Bytes{600}};
  run.memory->spaces = {{MemorySpace::pinned_host, {50}, {60}}};
  run.memory->life = {{LifePhase::save_full, {7}, {8}, true, false, "all of it"}};
  run.memory->overheads = {{"context", {5}, {4}, {6}, OverheadPlace::device, "one a process", "measured"}};
  run.memory_limit = Bytes{4000};
  run.fits = Fit::yes;
  run.losses = {3.0, 2.5};
  run.gradient_norms = {1.5};
  run.calibrated = true;
  run.mfu_palm = 0.45;
  run.assumes = {"even experts"};
  run.leaves_out = {"data loading"};
  run.operators = {{"attention", false, 6, {7'600'000}}, {"attention", true, 6, {15'500'000}}};
  return run;
}

}  // namespace

TEST_CASE("a summary reads back from its JSON") {
  const auto back = parse_summary_json(summary_json(full_summary()).dump());
  REQUIRE_OK(back);
  CHECK(*back == full_summary());
  const auto empty = parse_summary_json(summary_json(RunSummary{}).dump());
  REQUIRE_OK(empty);
  CHECK(*empty == RunSummary{});
}

TEST_CASE("the field names are the documented ones") {
  const auto json = summary_json(full_summary());
  for (const char* name :
       {"kind", "plan_hash", "step_time_ns", "tokens_per_second", "tokens_per_second_per_gpu", "mfu",
        "exposed_communication_ns", "communication", "memory", "fits", "operators", "losses",
        "gradient_norms", "calibrated", "leaves_out", "alternatives"}) {
    CHECK(json.contains(name));
  }
  CHECK(json["step_time_ns"] == nlohmann::ordered_json({{"median", 20}, {"min", 10}, {"max", 30}, {"n", 3}}));
  CHECK(json["communication"][0] == nlohmann::ordered_json({{"kind", "AllGather"},
                                                            {"group_size", 2},
                                                            {"count", 7},
                                                            {"bytes", 7000},
                                                            {"sent", 7000},
                                                            {"counted", 6999}}));
  CHECK(json["memory"]["peak_active"].is_null());
  CHECK(json["memory"]["by_class"] == nlohmann::ordered_json({{"activation", 900}}));
  CHECK(json["memory"]["phases"] ==
        nlohmann::ordered_json({{"forward", 1000}, {"backward", 800}, {"optimizer", 600}, {"save_full", 7}}));
  CHECK(summary_json(RunSummary{})["mfu"].is_null());
}

TEST_CASE("the text of a summary is a contract to the byte") {
  RunSummary run = full_summary();
  run.memory->teacher = TeacherMemory{{1}, {2}, {3}};
  run.ended_by = "memory";
  CHECK(
      summary_json(run).dump() ==
      R"({"kind":"measured","plan_hash":"abc","ranks":2,"step_time_ns":{"median":20,"min":10,"max)"
      R"(":30,"n":3},"tokens_per_second":1234.5,"tokens_per_second_per_gpu":617.25,"mfu":0.41,"mf)"
      R"(u_palm":0.45,"ex)"
      R"(posed_communication_ns":5,"communication":[{"kind":"AllGather","group_size":2,"count":7,)"
      R"("bytes":7000,"sent":7000,"counted":6999},{"kind":"AllReduce","group_size":2,"count":1,"b)"
      R"(ytes":8,"sent":16,"counted":null}],"transfers":[{"from":"pinned_host","to":"device",)"
      R"("count":3,"bytes":300}],"volume":{"sent":2.9,"limit":3.0},"skipped_steps":2,")"
      R"(memory":{"peak_allocated":1000,"peak_active":null,"peak_reserved":2000,"peak_device":nul)"
      R"(l,"allocator_retries":null,"device_low":null,"device_high":null,)"
      R"("by_class":{"activation":900},"peak_instruction":13,"peak_label":"13 Forward s4 mb0",")"
      R"(peak_rank":1,"peak_step":4,"phases":{"forward":1000,"backward":800,"optimizer":600,"save_full":7},)"
      R"("spaces":[{"space":"pinned_host","between":50,"peak":60}],"tea)"
      R"(cher":{"parameters":1,"gathered":2,"logits":3},"life":[{"phase":"save_full","device":7,"host":8,)"
      R"("asked":true,"runs":false,"formula":"all of it"}],"overheads":[{"name":"context","bytes":5,)"
      R"("low":4,"high":6,"where":"device","formula":"one a process","source":"measured"}]},)"
      R"("memory_limit":4000,"fits":"yes","fit_probability":null,"fit_reason":null,"fit_margin":null,)"
      R"("implementation":null,"compiled":null,"ended_b)"
      R"(y":"memory","operators":[{"operation":"attention","direction":"forward","calls":6,"time_)"
      R"(ns":7600000},{"operation":"attention","direction":"backward","calls":6,"time_ns":1550000)"
      R"(0}],"losses":[3.0,2.5],"steps_per_loss":1,"gradient_norms":[1.5],"calibrated":true,)"
      R"("assumes":["even experts"],"leaves_out":["data loading"],"alternatives":[]})");
  CHECK(
      summary_json(RunSummary{}).dump() ==
      R"({"kind":"predicted","plan_hash":"","ranks":1,"step_time_ns":{"median":null,"min":null,"max":null,)"
      R"("n":0},"tokens_per_second":null,"tokens_per_second_per_gpu":null,"mfu":null,"mfu_palm":null,)"
      R"("exposed_communication_ns":0,"communication":[],"transfers":[],"volume":null,)"
      R"("skipped_steps":0,"memory":null,"memory_limit":null,"fits":null,"fit_probability":null,)"
      R"("fit_reason":null,"fit_margin":null,"implementation":null,"compiled":null,"ended_by":null,"operators":[],)"
      R"("losses":[],"steps_per_loss":1,"gradient_norms":[],"calibrated":false,)"
      R"("assumes":[],"leaves_out":[],"alternatives":[]})");
}

TEST_CASE("what a log does not tell is null, and comes back as unknown") {
  RunSummary run;
  run.ranks = 0;
  run.exposed_communication = k_unknown_time;
  run.skipped_steps = -1;
  run.steps_per_loss = 0;
  run.memory.emplace();
  run.memory->peak_rank = -1;
  run.memory->peak_reserved = Bytes{7};
  const auto json = summary_json(run);
  for (const char* name : {"ranks", "exposed_communication_ns", "skipped_steps", "steps_per_loss"})
    CHECK(json[name].is_null());
  for (const char* name : {"peak_allocated", "peak_instruction", "peak_label", "peak_rank", "phases"})
    CHECK(json["memory"][name].is_null());
  const auto back = parse_summary_json(json.dump());
  REQUIRE_OK(back);
  CHECK(*back == run);
}

TEST_CASE("a summary of an earlier version has no overheads") {
  const auto back = parse_summary_json(R"({"memory":{"peak_allocated":1000,"phases":{}}})");
  REQUIRE_OK(back);
  CHECK(back->memory->overheads.empty());
  const auto tight = parse_summary_json(R"({"fits":"tight"})");
  REQUIRE_OK(tight);
  CHECK(tight->fits == Fit::unsure);
}

TEST_CASE("damaged summaries are errors") {
  for (const char* text :
       {"", "{", "[]", "3", R"({"ranks": "two"})", R"({"memory": 5})", R"({"communication": [1]})",
        R"({"communication": {}})", R"({"volume": []})", R"({"losses": ["a"]})"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_summary_json(text).has_value());
  }
}
