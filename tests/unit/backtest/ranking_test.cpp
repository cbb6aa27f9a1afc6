#include "simulator/backtest/ranking.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/base/paths.h"
#include "simulator/backtest/ranked_runs.h"
#include "simulator/backtest/ranking_baselines.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

PublishedTable shipped_table() {
  const auto text = read_input_file(find_asset("backtest/published_runs.csv").value(), k_table_file);
  REQUIRE_OK(text);
  const auto table = read_published(*text, "published_runs.csv");
  REQUIRE_OK(table);
  return *table;
}

PublishedRun run(const std::string& id, double rate, const std::map<std::string, std::string>& cells) {
  PublishedRun made;
  made.cells = {{"id", id},
                {"source_repo_or_paper", "s"},
                {"model", "m"},
                {"n_layers", "2"},
                {"hidden", "64"},
                {"n_heads", "2"},
                {"seq_len", "1024"},
                {"micro_batch_per_gpu", "1"},
                {"gpu", "A100-80GB"},
                {"n_gpus", "8"},
                {"strategy", "FULL_SHARD"},
                {"tokens_per_s_per_gpu", fmt::format("{}", rate)}};
  for (const auto& [name, cell] : cells) made.cells[name] = cell;
  return made;
}

BacktestRow predicted(const std::string& id, double rate) {
  BacktestRow row;
  row.id = id;
  row.figure = "tokens_per_second_per_gpu";
  row.predicted = rate;
  return row;
}

}  // namespace

// The counts of the definition in ranking.h on the shipped table; knobs: 74 micro-batch, 48 GPUs, 10
// accumulation, 9 others.
TEST_CASE("the shipped table has as many rows, groups and pairs as counted elsewhere") {
  const Ranking ranking = rank_published(shipped_table(), {});
  CHECK(ranking.rows == 315);
  CHECK(ranking.groups[0].groups == 16);
  CHECK(ranking.groups[0].configurations == 57);
  CHECK(ranking.groups[0].pairs == 89);
  CHECK(ranking.groups[1].groups == 19);
  CHECK(ranking.groups[1].configurations == 97);
  CHECK(ranking.groups[1].pairs == 339);
  CHECK(ranking.knob_pairs == 141);
  REQUIRE(ranking.knobs.size() > 3);
  CHECK(ranking.knobs[0].knob == "micro_batch_per_gpu");
  CHECK(ranking.knobs[0].pairs == 74);
  CHECK(ranking.knobs[1].knob == "n_gpus");
  CHECK(ranking.knobs[1].pairs == 48);
  CHECK(ranking.knobs[2].pairs == 10);
  CHECK(ranking.groups[0].scores[0].without == 89);  // nothing is predicted here
  // The order of settings alone, as counted elsewhere: 99 and 94 %.
  CHECK(ranking.groups[0].scores[1].in_order == Approx(88.0 / 89));
  CHECK(ranking.groups[1].scores[1].in_order == Approx(0.94).epsilon(0.005));
}

TEST_CASE("equal settings stand once, and not at all where their figures differ") {
  PublishedTable table;
  table.runs = {run("a", 100, {}),
                run("b", 104, {}),
                run("c", 100, {{"micro_batch_per_gpu", "2"}}),
                run("d", 106, {{"micro_batch_per_gpu", "2"}}),
                run("e", 100, {{"tp", "2"}}),
                run("f", 100, {{"notes", "with LoRA"}}),
                run("g", 100, {{"notes", "FLAG: odd"}})};
  const auto runs = ranked_runs(table);
  REQUIRE(runs.size() == 1);
  CHECK(runs.front()->cell("id") == "a");
}

// Three micro-batches; the prediction swaps the last two, which costs nothing of the pick, and doubles what
// the first step buys.
TEST_CASE("pairs, loss of the pick and what a knob buys, by hand") {
  PublishedTable table;
  table.runs = {run("a", 100, {}), run("b", 200, {{"micro_batch_per_gpu", "2"}}),
                run("c", 150, {{"micro_batch_per_gpu", "4"}})};
  Backtest backtest;
  backtest.rows = {predicted("a", 100), predicted("b", 400), predicted("c", 50)};
  const Ranking ranking = rank_published(table, backtest);
  const OrderScore& ours = ranking.groups[0].scores[0];
  CHECK(ours.pairs == 3);
  CHECK(ours.in_order == Approx(2.0 / 3));
  CHECK(ours.mean_regret == 0);
  const OrderScore& order = ranking.groups[0].scores[1];
  CHECK(order.in_order == Approx(2.0 / 3));
  CHECK(order.mean_regret == Approx(200.0 / 150 - 1));
  // Errors: log 4 / log 2 - 1 = 1; a to c: log 0.5 / log 1.5 - 1 = -2.71; b to c: log 0.125 / log 0.75 - 1
  // = 6.23.
  CHECK(ranking.scores[0].median == Approx(std::abs(std::log(0.5) / std::log(1.5) - 1)));
  CHECK(ranking.scores[0].medians == 1);
}

TEST_CASE("an order of settings: the first that differs decides") {
  CHECK(settings_order(run("a", 1, {{"fp8", "yes"}})) <
        settings_order(run("b", 1, {{"micro_batch_per_gpu", "8"}})));
  CHECK(settings_order(run("a", 1, {{"cpu_offload", "params"}})) > settings_order(run("b", 1, {})));
  CHECK(settings_order(run("a", 1, {{"micro_batch_per_gpu", "2"}})) < settings_order(run("b", 1, {})));
  CHECK(*crude_rate(run("a", 1, {{"micro_batch_per_gpu", "2"}})) > *crude_rate(run("b", 1, {})));
  CHECK(!crude_rate(run("a", 1, {{"gpu", "TPU"}})));
}

}  // namespace shardlab
