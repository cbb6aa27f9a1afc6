// Databases of older versions, made by the scripts in tests/data/store.
#include <SQLiteCpp/SQLiteCpp.h>

#include <fstream>
#include <sstream>

#include "engine/store/run_store.h"
#include "engine/store/schema.h"
#include "tests/catch.h"
#include "tests/hand_made_record.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;
namespace fs = std::filesystem;

namespace {

fs::path database_of_version_1(const fs::path& folder) {
  std::ostringstream script;
  script << std::ifstream(data_file("store/version_1.sql")).rdbuf();
  const fs::path file = folder / "runs.db";
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec(script.str());
  return file;
}

}  // namespace

TEST_CASE("a database of version 1 is brought up to date with its runs") {
  const TemporaryFolder folder;
  const fs::path file = database_of_version_1(folder.path());
  auto store = RunStore::open(file, OpenMode::existing);
  REQUIRE_OK(store);
  const auto runs = store->list();
  REQUIRE_OK(runs);
  REQUIRE(runs->size() == 1);
  CHECK(runs->front().name == "old-run");
  CHECK(runs->front().note.empty());
  CHECK(runs->front().tags.empty());
  const auto run = store->load(runs->front().id);
  REQUIRE_OK(run);
  CHECK(run->plan.steady == hand_made_plan());
  REQUIRE(run->trace.steps.size() == 1);
  CHECK(run->trace.steps[0].ranks[0].spans == hand_made_rank().spans);
  CHECK(run->trace.steps[0].ranks[0].memory.size() == 1);
  CHECK(run->trace.losses == std::vector<double>{2.5});

  REQUIRE_OK(store->add_tag(runs->front().id, "kept"));
  REQUIRE_OK(store->save(hand_made_record("new")));
  SQLite::Database db(file.string(), SQLite::OPEN_READONLY);
  CHECK(db.execAndGet("PRAGMA user_version").getInt() == schema_version());
}

TEST_CASE("a database that cannot be brought up to date is left as it is") {
  const TemporaryFolder folder;
  const fs::path file = database_of_version_1(folder.path());
  SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
  other.exec("CREATE TABLE tags (something_else)");  // what version 2 wants to make
  const auto store = RunStore::open(file, OpenMode::existing);
  REQUIRE_FALSE(store);
  CHECK(other.execAndGet("PRAGMA user_version").getInt() == 1);
  CHECK(other.execAndGet("SELECT count(*) FROM runs").getInt() == 1);
  CHECK(other.execAndGet("SELECT count(*) FROM pragma_table_info('runs') WHERE name = 'note'").getInt() == 0);
}
