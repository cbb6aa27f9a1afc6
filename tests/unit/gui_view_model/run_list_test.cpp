#include "gui/view_model/run_list.h"

#include "engine/formats/profiler/import_profile.h"
#include "tests/catch.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

RunEntry entry_of(std::int64_t id, RunKind kind, std::string name, std::int64_t step_time) {
  RunEntry entry;
  entry.id = {id};
  entry.kind = kind;
  entry.name = std::move(name);
  entry.strategy = "fsdp2";
  entry.plan_hash = "hash of " + entry.name;
  entry.step_time = {step_time};
  entry.created = 1'000'000 + id;
  return entry;
}

}  // namespace

TEST_CASE("a trace of a profiler has no strategy, and none is made up") {
  RunEntry run = entry_of(1, RunKind::measured, "imported", 100);
  run.strategy = k_imported_strategy;
  const DataTable table = run_table({run}, {});
  for (const Cell& cell : table.rows.at(0).cells) CHECK(cell.text != "profiler");
}

TEST_CASE("a filter's words must all occur somewhere in a run, whatever their case") {
  RunEntry run = entry_of(12, RunKind::measured, "Tiny-Llama", 100);
  run.tags = {"base"};
  run.note = "after the update";
  run.machine = "8 x H100-SXM (hgx-h100)";
  run.implementation = Implementation::eager;
  CHECK(matches(run, {"llama R12", {}, ""}));
  CHECK(matches(run, {"UPDATE fsdp2 base", {}, ""}));
  CHECK(matches(run, {"h100 eager", {}, ""}));
  CHECK(matches(run, {"  ", {}, ""}));
  CHECK_FALSE(matches(run, {"llama ddp", {}, ""}));
  CHECK_FALSE(matches(run, {"", RunKind::predicted, ""}));
  CHECK(matches(run, {"", RunKind::measured, "base"}));
  CHECK_FALSE(matches(run, {"", {}, "bas"}));
}

TEST_CASE("the table has a row a run that matches, and rows know their run") {
  std::vector<RunEntry> runs = {entry_of(2, RunKind::measured, "b", 2000),
                                entry_of(1, RunKind::predicted, "a", 1000)};
  runs[1].machine = "2 processors";
  runs[1].implementation = Implementation::fused;
  CHECK(run_table(runs, {}).rows.size() == 2);
  const DataTable table = run_table(runs, {"a", RunKind::predicted, ""});
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].key == 1);
  CHECK(table.rows[0].cells.size() == table.columns.size());
  CHECK(table.rows[0].cells[0].text == "r1");
  const auto column = [&](const std::string& title) {
    return std::find_if(table.columns.begin(), table.columns.end(),
                        [&](const auto& each) { return each.title == title; }) -
           table.columns.begin();
  };
  CHECK(table.rows[0].cells[static_cast<std::size_t>(column("machine"))].text == "2 processors");
  CHECK(table.rows[0].cells[static_cast<std::size_t>(column("operators"))].text == "fused");
}

TEST_CASE("the trend pairs a measured run with the prediction that stood before it") {
  std::vector<RunEntry> runs = {
      entry_of(1, RunKind::predicted, "a", 90),  entry_of(2, RunKind::measured, "a", 100),
      entry_of(3, RunKind::predicted, "a", 120), entry_of(4, RunKind::measured, "a", 100),
      entry_of(5, RunKind::measured, "b", 100),  entry_of(6, RunKind::predicted, "b", 1)};
  runs[0].peak_allocated = Bytes{50};
  runs[1].peak_allocated = Bytes{100};
  std::reverse(runs.begin(), runs.end());  // the store gives the newest first
  const auto trend = error_trend(runs, {});
  REQUIRE(trend.size() == 2);  // b was measured before it was predicted
  CHECK(trend[0].measured == RunId{2});
  CHECK(trend[0].step_time_error == Approx(-0.1));
  CHECK(*trend[0].peak_error == Approx(-0.5));
  CHECK(trend[1].predicted == RunId{3});
  CHECK(trend[1].step_time_error == Approx(0.2));
  CHECK_FALSE(trend[1].peak_error);
  CHECK(trend_table(trend).rows.size() == 2);
  CHECK(error_trend(runs, {"b", {}, ""}).empty());
}

TEST_CASE("the trend leaves out other machines' predictions and times that are no measurement") {
  std::vector<RunEntry> runs = {
      entry_of(1, RunKind::predicted, "a", 90), entry_of(2, RunKind::predicted, "a", 1),
      entry_of(3, RunKind::measured, "a", 100), entry_of(4, RunKind::measured, "a", 300)};
  runs[0].machine = runs[2].machine = runs[3].machine = "2 processors";
  runs[1].machine = "2 x H100-SXM";
  runs[1].calibrated = true;
  runs[3].times_not_judged = "other programs took 38 % of the processors meanwhile";
  const auto trend = error_trend(runs, {});
  REQUIRE(trend.size() == 1);
  CHECK(trend[0].predicted == RunId{1});
  CHECK(trend[0].step_time_error == Approx(-0.1));
}

TEST_CASE("a calibrated prediction is preferred to a newer one that is not") {
  std::vector<RunEntry> runs = {entry_of(1, RunKind::predicted, "a", 90),
                                entry_of(2, RunKind::predicted, "a", 50),
                                entry_of(3, RunKind::measured, "a", 100)};
  runs[0].calibrated = true;
  CHECK(error_trend(runs, {}).at(0).predicted == RunId{1});
}

TEST_CASE("tags in use, each once") {
  std::vector<RunEntry> runs(2);
  runs[0].tags = {"kept", "base"};
  runs[1].tags = {"base"};
  CHECK(tags_of(runs) == std::vector<std::string>{"base", "kept"});
}
