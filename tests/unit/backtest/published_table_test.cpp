#include "simulator/backtest/published_table.h"

#include "simulator/backtest/published_figures.h"
#include "tests/unit/backtest/small_table.h"

namespace shardlab {
namespace {

using test::contains_text;
using test::table_of;

std::string error_of(const std::string& text) {
  const auto table = read_published(text, "small.csv");
  REQUIRE_FALSE(table);
  CHECK(table.error().kind == ErrorKind::bad_input);
  return message_text(table.error());
}

TEST_CASE("published runs: cells by column, empty ones unknown, and what follows from them") {
  const PublishedTable table =
      table_of("r1,a/b,,A100,12,FSDP2,8,1,,,,,,,,,,\nr2,a/b,,A100,16,FSDP2,8,1,,,,,,,,,,\n");
  REQUIRE(table.runs.size() == 2);
  CHECK(table.runs[1].line == 3);
  CHECK(table.runs[1].cell("gpu") == "A100");
  CHECK(table.runs[1].cell("family").empty());
  CHECK(table.runs[1].number("n_gpus") == 16);
  CHECK_FALSE(table.runs[1].number("tp"));
  CHECK(table.runs[1].cell("nodes") == "2");
  CHECK(table.runs[1].cell("node_gpus") == "8");
  CHECK(table.runs[0].cell("nodes").empty());  // 12 GPUs do not fill nodes of 8
  CHECK(table.find("r2") == &table.runs[1]);
  CHECK(table.find("r3") == nullptr);
}

TEST_CASE("published runs: missing and misspelt columns are named") {
  const std::string missing = error_of("id,gpu\nx,A100\n");
  CHECK_THAT(missing, contains_text("source_repo_or_paper: this column is missing"));
  CHECK_THAT(missing, contains_text("n_gpus: this column is missing"));
  CHECK_THAT(error_of(test::k_small_columns.substr(0, test::k_small_columns.size() - 1) + ",seq_length\n"),
             contains_text("seq_length: no column of published runs has this name"));
}

TEST_CASE("published runs: junk is refused with its line and column") {
  const auto refused = [](const std::string& rows) { return error_of(test::k_small_columns + rows); };
  CHECK_THAT(refused("r1,a/b,,A100,eight,FSDP2,8,1,,,,,,,,,,\n"),
             contains_text("small.csv:2: n_gpus: 'eight' is no number above zero"));
  CHECK_THAT(refused("r1,a/b,,A100,8,FSDP2,8,-1,,,,,,,,,,\n"), contains_text("'-1' is no number above zero"));
  CHECK_THAT(refused("r1,a/b,,A100,8,FSDP2,nan,1,,,,,,,,,,\n"),
             contains_text("'nan' is no number above zero"));
  CHECK_THAT(refused(",a/b,,A100,8,FSDP2,8,1,,,,,,,,,,\n"), contains_text("a row has no id"));
  CHECK_THAT(refused("r1,a/b,,A100,8,FSDP2,8,1,,,,,,,,,,\nr1,a/b,,A100,8,FSDP2,8,1,,,,,,,,,,\n"),
             contains_text("small.csv:3: id: two rows are called 'r1'"));
  CHECK_THAT(refused("r1,a/b,,A100,8,FSDP2,8,1,,,,,alocated,3,,,,\n"),
             contains_text("unknown word 'alocated'"));
}

TEST_CASE("published figures: the kind of memory decides which peak it is") {
  const auto figures = [](const std::string& kind, const std::string& cells) {
    const PublishedTable table = table_of("r1,a/b,,A100,8,FSDP2,8,1,,,,," + kind + "," + cells + ",,,\n");
    return published_figures(table.runs.front(), BacktestMetric::memory);
  };
  CHECK(figures("allocated", "3,")[0].figure == "peak_allocated");
  CHECK(figures("allocated", "3,")[0].value == 3.0 * 1024 * 1024 * 1024);
  CHECK(figures("active", "3,")[0].figure == "peak_active");
  CHECK(figures("reserved", ",3")[0].figure == "peak_reserved");
  CHECK(figures("nvidia_smi", ",3")[0].figure == "peak_device");
  CHECK(figures("nvidia_smi", ",3")[0].kind == "driver");
  CHECK(figures("unspecified", ",3")[0].figure == "peak_reserved");
  CHECK(figures("reserved", "3,").empty());  // in another column than its kind says
  const auto both = figures("active+reserved", "3,4");
  REQUIRE(both.size() == 2);
  CHECK(both[0].figure == "peak_active");
  CHECK(both[1].figure == "peak_reserved");
}

TEST_CASE("published figures: tokens a second, or the tokens of a step by its time") {
  const PublishedTable table = table_of(
      "r1,a/b,,A100,8,FSDP2,8,1,,,,,,,,100,9,\nr2,a/b,,A100,8,FSDP2,8,3,,,,,,,,,2,\nr3,a/"
      "b,,A100,8,FSDP2,8,3,,,,,,,,,2,yes\n");
  CHECK(published_figures(table.runs[0], BacktestMetric::time).at(0).value == 100);
  CHECK(published_figures(table.runs[1], BacktestMetric::time).at(0).value == 12);  // 3 sequences of 8 in 2 s
  CHECK(published_figures(table.runs[2], BacktestMetric::time).empty());            // it failed
}

}  // namespace
}  // namespace shardlab
