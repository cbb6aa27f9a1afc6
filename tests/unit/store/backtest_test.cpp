#include <SQLiteCpp/SQLiteCpp.h>

#include "engine/store/run_store.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

Backtest some_backtest() {
  BacktestRow row;
  row.id = "r1";
  row.source = "org/repo";
  row.series = "org";
  row.figure = "peak_allocated";
  row.published = 100;
  row.predicted = 110;
  row.low = 90;
  row.high = 120.5;
  row.error = 0.1;
  row.expressible = true;
  row.nearest = {"what is \"nearest\"", "b"};
  row.rules = {"a rule"};
  row.fits = Fit::unsure;
  row.groups = {{"source", "org/repo"}, {"kind", "allocated"}};
  BacktestRow refused;
  refused.id = "r2";
  refused.reason = "not built";
  refused.ran_out_of_memory = true;
  Backtest backtest;
  backtest.table = "t.csv";
  backtest.settings = {"a=1", "b={c: 2}"};
  backtest.has_bands = true;
  backtest.within_bands = 0.75;
  backtest.band_part = 0.9;
  backtest.rows = {row, refused};
  return backtest;
}

}  // namespace

TEST_CASE("store: a backtest comes back as it was, of each metric the newest") {
  const test::TemporaryFolder folder;
  auto store = RunStore::open(folder.path() / "runs.db", OpenMode::create);
  REQUIRE_OK(store);
  const auto none = store->latest_backtest(BacktestMetric::memory);
  REQUIRE_OK(none);
  CHECK_FALSE(none->has_value());

  Backtest older = some_backtest();
  older.rows.clear();
  REQUIRE_OK(store->save_backtest(older));
  const auto id = store->save_backtest(some_backtest(), 1234);
  REQUIRE_OK(id);
  Backtest of_time = some_backtest();
  of_time.metric = BacktestMetric::time;
  of_time.within_bands.reset();
  REQUIRE_OK(store->save_backtest(of_time));

  const auto memory = store->latest_backtest(BacktestMetric::memory);
  REQUIRE_OK(memory);
  REQUIRE(memory->has_value());
  CHECK((*memory)->id == *id);
  CHECK((*memory)->created == 1234);
  CHECK((*memory)->backtest == some_backtest());
  const auto time = store->latest_backtest(BacktestMetric::time);
  REQUIRE_OK(time);
  CHECK((*time)->backtest == of_time);
}

TEST_CASE("store: a backtest that somebody has changed is refused") {
  const test::TemporaryFolder folder;
  auto store = RunStore::open(folder.path() / "runs.db", OpenMode::create);
  REQUIRE_OK(store);
  REQUIRE_OK(store->save_backtest(some_backtest()));
  SQLite::Database db((folder.path() / "runs.db").string(), SQLite::OPEN_READWRITE);
  for (const char* change :
       {"UPDATE backtest_rows SET details = '{'", "UPDATE backtest_rows SET details = '[1]'",
        "UPDATE backtests SET settings = '{}'"}) {
    db.exec(change);
    const auto read = store->latest_backtest(BacktestMetric::memory);
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == ErrorKind::bad_input);
  }
}

}  // namespace shardlab
