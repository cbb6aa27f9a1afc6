#include "simulator/backtest/run_backtest.h"

#include "tests/unit/backtest/small_table.h"

namespace shardlab {
namespace {

using test::contains_text;
using test::table_of;

const std::string k_rules =
    "- rule: all\n"
    "  when: {family: llama2}\n"
    "  set:\n"
    "    model.config: tiny-llama\n"
    "    model.sequence_length: $seq_len\n"
    "    model.overrides: {num_hidden_layers: $n_layers}\n"
    "    cluster: {gpu: A100-SXM-80GB, gpus_per_node: $node_gpus, nodes: $nodes}\n"
    "    parallel.strategy: {lookup: strategy, in: {FSDP2: fsdp2, NO_SHARD: ddp, ZERO3: megatron}}\n"
    "    train.micro_batch: $micro_batch_per_gpu\n"
    "  because: x\n"
    "  source: y\n"
    "- rule: others\n"
    "  unless: {family: llama2}\n"
    "  refuse: no such model\n"
    "  because: x\n"
    "  source: y\n";

const std::string k_rows =
    "ran,org/repo (old),,A100,2,FSDP2,32,2,llama2,2,,,allocated,0.01,,,,no\n"
    "smi,org/repo,,A100,2,FSDP2,32,2,llama2,2,,,nvidia_smi,,3,,,no\n"
    "failed,org/repo,,A100,2,NO_SHARD,32,2,llama2,2,,,,,,,,yes\n"
    "zero,org/other,,A100,2,ZERO3,32,2,llama2,2,,,allocated,1,,,,no\n"
    "short,org/other,,A100,2,FSDP2,,2,llama2,2,,,allocated,1,,,,no\n"
    "bert,org/other,,A100,2,FSDP2,32,2,bert,2,,,allocated,1,,,,no\n"
    "silent,org/other,,A100,2,FSDP2,32,2,llama2,2,,,,,,100,,no\n";

Backtest backtest(BacktestSettings settings = {}) {
  auto rules = parse_rules(k_rules, "r.yaml");
  REQUIRE_OK(rules);
  return run_backtest(table_of(k_rows), *rules, settings);
}

}  // namespace

TEST_CASE("backtest: rows with a figure, and failed runs for their verdict") {
  const Backtest result = backtest();
  REQUIRE(result.rows.size() == 6);
  const BacktestRow& ran = result.rows[0];
  CHECK(ran.id == "ran");
  CHECK(ran.source == "org/repo");
  CHECK(ran.expressible);
  CHECK(ran.reason.empty());
  REQUIRE(ran.predicted);
  CHECK(*ran.error == Approx(*ran.predicted / (0.01 * 1024 * 1024 * 1024) - 1));
  CHECK(ran.fits == Fit::yes);
  CHECK(ran.groups.front() == BacktestGroup{"source", "org/repo"});
  const BacktestRow& failed = result.rows[2];
  CHECK(failed.ran_out_of_memory);
  CHECK(failed.figure.empty());
  CHECK_FALSE(failed.published);
  CHECK(failed.fits == Fit::yes);
  CHECK(result.verdicts.ran_out_of_memory == std::array<int, 3>{1, 0, 0});
  CHECK(result.summary.front().rows == 5);
}

TEST_CASE("backtest: every row that has no prediction says why") {
  const Backtest result = backtest();
  for (const BacktestRow& row : result.rows)
    CHECK((row.predicted || row.ran_out_of_memory) == row.reason.empty());
  CHECK_THAT(result.rows[3].reason, contains_text("unknown strategy"));
  CHECK(result.rows[4].reason == "the source does not say seq_len");
  CHECK(result.rows[5].reason == "no such model");
  CHECK_FALSE(result.rows[5].expressible);
}

TEST_CASE("backtest: in time, with a setting for every scenario, the same whatever the threads") {
  BacktestSettings settings;
  settings.metric = BacktestMetric::time;
  int last = 0;
  settings.progress = [&](int done, int of) {
    CHECK(done == last + 1);
    CHECK(of == 7);
    last = done;
  };
  const Backtest one = backtest(settings);
  REQUIRE(one.rows.size() == 2);  // silent, and the failed run
  CHECK(one.rows[1].figure == "tokens_per_second_per_gpu");
  settings.progress = {};
  settings.threads = 4;
  CHECK(backtest(settings) == one);
  settings.settings = {"train.micro_batch=4"};
  CHECK(*backtest(settings).rows[1].predicted > *one.rows[1].predicted);
  settings.settings = {"train.micro_batch=many"};
  CHECK_THAT(backtest(settings).rows[1].reason, contains_text("train.micro_batch"));
}

}  // namespace shardlab
