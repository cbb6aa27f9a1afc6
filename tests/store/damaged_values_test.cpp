// A database that SQLite finds sound, with values that no run can have: refused where a run is read, because
// whoever gets a run relies on its ids.
#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "engine/store/run_store.h"
#include "tests/catch.h"
#include "tests/hand_made_record.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;

TEST_CASE("values that no run can have are refused where the run is read") {
  const char* const statement =
      GENERATE("UPDATE spans SET instruction = 7 WHERE instruction = 6",
               "UPDATE spans SET instruction = 4294967295 WHERE instruction = 6",
               "UPDATE memory SET instruction = 1000000 WHERE instruction = 6",
               "UPDATE spans SET end_ns = start_ns - 1 WHERE instruction = 2",
               "UPDATE spans SET end_ns = 9223372036854775807 WHERE instruction = 2",
               "UPDATE spans SET issue_ns = -9223372036854775807 WHERE instruction = 2",
               "UPDATE plans SET text = replace(text, 'AllGather', 'NoGather')", "UPDATE plans SET text = ''",
               "UPDATE plans SET hash = '' WHERE phase = 'steady'", "UPDATE runs SET summary = '{}'",
               "UPDATE runs SET summary = 'null'", "UPDATE runs SET provenance = '[1'",
               "UPDATE runs SET steady_plan = setup_plan");
  const TemporaryFolder folder;
  const auto file = folder.path() / "runs.db";
  RunStore store = RunStore::open(file, OpenMode::create).value();
  const auto id = store.save(hand_made_record("a"));
  REQUIRE_OK(id);
  REQUIRE_OK(store.load(*id));
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(statement);
  INFO(statement);
  const auto run = store.load(*id);
  REQUIRE_FALSE(run);
  CHECK_FALSE(run.error().what.empty());
  CHECK(store.list());  // the other runs are still there to be chosen
}
