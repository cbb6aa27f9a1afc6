#include "engine/store/schema.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "engine/plan/buffer.h"
#include "engine/store/run_store.h"
#include "tests/catch.h"
#include "tests/hand_made_record.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;

TEST_CASE("migrations are numbered from 1 without gaps") {
  int expected = 1;
  for (const Migration& migration : migrations()) CHECK(migration.version == expected++);
  CHECK(schema_version() == expected - 1);
}

TEST_CASE("every class of buffer has its two columns") {
  SQLite::Database db(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (const Migration& migration : migrations()) db.exec(std::string(migration.sql));
  SQLite::Statement query(db, "SELECT name FROM pragma_table_info('memory')");
  std::vector<std::string> columns;
  while (query.executeStep()) columns.push_back(query.getColumn(0).getString());
  std::vector<std::string> expected = {"step_id", "instruction", "live", "peak"};
  for (const char* prefix : {"live_", "peak_"}) {
    for (std::size_t i = 0; i < k_buffer_classes; ++i) {
      expected.push_back(prefix + std::string(to_string(static_cast<BufferClass>(i))));
    }
  }
  CHECK(columns == expected);
}

// Databases of before the reason was kept know from their comparisons which runs were disturbed.
TEST_CASE("a run whose comparison left its times unjudged says so after the migration") {
  constexpr int k_version = 10;
  SQLite::Database db(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (const Migration& migration : migrations())
    if (migration.version < k_version) db.exec(std::string(migration.sql));
  const std::string run =
      "INSERT INTO runs (kind, name, created, strategy, ranks, run_hash, setup_plan, first_plan, "
      "steady_plan, scenario, provenance, summary, calibrated, step_time_ns, tokens_per_second, "
      "exposed_communication_ns) VALUES ('measured', 'a', 1, 'ddp', 1, '', 1, 1, 1, '', '', '', 0, 1, 1, 1);";
  db.exec(run + run + run);
  db.exec(
      "INSERT INTO comparisons VALUES (1, 1, 1, 2, 'not judged'); INSERT INTO comparisons VALUES (2, 1, 1, "
      "3, 'not judged');"
      "INSERT INTO comparison_metrics VALUES (1, 0, 'step_time', 'ns', 1, 2, -0.5, 0.1, 'not judged');"
      "INSERT INTO comparison_metrics VALUES (2, 0, 'step_time', 'ns', 1, 2, -0.5, NULL, 'not judged');");
  db.exec(std::string(migrations()[k_version - 1].sql));
  CHECK(db.execAndGet("SELECT times_not_judged FROM runs WHERE id = 2").getString() != "");
  CHECK(db.execAndGet("SELECT times_not_judged FROM runs WHERE id = 3").getString() == "");  // no tolerance
}

TEST_CASE("questions are SQL") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "runs.db";
  RunStore store = RunStore::open(file, OpenMode::create).value();
  REQUIRE_OK(store.save(hand_made_record()));
  SQLite::Database db(file.string(), SQLite::OPEN_READONLY);
  SQLite::Statement query(db,
                          "SELECT label, avg(duration_ns), count(*) FROM run_spans WHERE run_id = 1 AND NOT "
                          "warmup AND kind = 'Backward' "
                          "GROUP BY instruction");
  REQUIRE(query.executeStep());
  CHECK(query.getColumn(0).getString() == "2 Backward s0 mb0");
  CHECK(query.getColumn(1).getDouble() == 200);
  CHECK(query.getColumn(2).getInt() == 4);  // two steps of two ranks
  CHECK(db.execAndGet("SELECT max(peak_workspace) FROM memory").getInt() == 80);
  CHECK(db.execAndGet("SELECT \"group\" || group_size FROM instructions WHERE kind = 'AllGather'")
            .getString() == "shard2");
}
