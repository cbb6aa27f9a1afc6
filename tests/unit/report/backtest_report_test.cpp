#include "engine/report/backtest_report.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

namespace shardlab {
namespace {

using test::contains_text;

BacktestRow row(const std::string& id, double error) {
  BacktestRow row;
  row.id = id;
  row.figure = "peak_allocated";
  row.published = 2.0 * 1024 * 1024 * 1024;
  row.predicted = *row.published * (1 + error);
  row.error = error;
  row.expressible = true;
  return row;
}

Backtest some_backtest() {
  Backtest backtest;
  backtest.table = "t.csv";
  for (int i = 0; i < 12; ++i)
    backtest.rows.push_back(row("r" + std::to_string(i), 0.01 * (i % 2 == 0 ? i : -i)));
  BacktestRow refused;
  refused.id = "refused";
  refused.figure = "peak_allocated";
  refused.published = 1;
  refused.reason = "not built";
  backtest.rows.push_back(refused);
  backtest.rows.back().groups = {{"source", "a/b"}};
  backtest.summary = {{"all", "all", 13, 12, 12, 0.05, 0.06, 0.1, 0.11, -0.01}, {"source", "a/b", 1, 0, 0}};
  backtest.verdicts.ran = {10, 1, 1};
  return backtest;
}

}  // namespace

TEST_CASE("a backtest as text: the worst rows first, reasons counted") {
  const std::string text = backtest_table(some_backtest(), false, {.width = 100});
  CHECK_THAT(text, contains_text("memory of t.csv: 13 published figures, 12 expressible, 12 predicted"));
  CHECK_THAT(text, contains_text("the 10 worst rows (--all shows 12)"));
  CHECK(text.find("r11") < text.find("r10"));
  CHECK(text.find("r1 ") == std::string::npos);
  CHECK_THAT(text, contains_text("-11.0 %"));
  CHECK_THAT(text, contains_text("  1  not built"));
  CHECK_THAT(text, contains_text("of runs that ran: yes 10, unsure 1, no 1"));
  CHECK(text.find("a/b") == std::string::npos);  // nothing of it can be expressed
  CHECK(text.find("band") == std::string::npos);
  CHECK_THAT(backtest_table(some_backtest(), true, {.width = 100}), contains_text("r1 "));
}

TEST_CASE("a backtest as JSON: what is not known is null") {
  const auto json = backtest_json(some_backtest());
  CHECK(json["rows"].size() == 13);
  CHECK(json["rows"][12]["predicted"].is_null());
  CHECK(json["rows"][12]["expressible"] == false);
  CHECK(json["rows"][12]["reason"] == "not built");
  CHECK(json["rows"][12]["groups"][0]["by"] == "source");
  CHECK(json["rows"][11]["error"] == -0.11);
  CHECK(json["rows"][11]["low"].is_null());
  CHECK(json["summary"][0]["worst"] == 0.11);
  CHECK(json["summary"][1]["median"].is_null());
  CHECK(json["verdicts"]["ran"]["unsure"] == 1);
  CHECK(json["within_bands"].is_null());
}

}  // namespace shardlab
