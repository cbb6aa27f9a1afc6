#include <sys/stat.h>
#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdlib>
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

std::string content_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void write_file(const fs::path& file, std::string_view content) {
  std::ofstream(file, std::ios::binary) << content;
}

void make_database(const fs::path& file, const std::string& sql) {
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec(sql);
}

// The error of opening; the file must be as before, with nothing new beside it.
std::string refusal(const fs::path& file) {
  const std::string before = content_of(file);
  for (const OpenMode mode : {OpenMode::existing, OpenMode::create}) {
    const auto store = RunStore::open(file, mode);
    REQUIRE_FALSE(store);
    CHECK(store.error().kind == ErrorKind::bad_input);
    CHECK(where_text(store.error()) == file.string());
  }
  CHECK(content_of(file) == before);
  CHECK(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()) == 1);
  return RunStore::open(file, OpenMode::create).error().what;
}

// Sets a variable for the scope; null unsets it.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  ~ScopedVariable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace

TEST_CASE("a new database is made with its folder") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "a" / "b" / "runs.db";
  REQUIRE_OK(RunStore::open(file, OpenMode::create));
  SQLite::Database db(file.string(), SQLite::OPEN_READONLY);
  CHECK(db.execAndGet("PRAGMA user_version").getInt() == schema_version());
  CHECK(db.execAndGet("PRAGMA application_id").getUInt() == k_application_id);
  CHECK(db.execAndGet("PRAGMA journal_mode").getString() == "delete");
  CHECK(content_of(file).substr(68, 4) == "shlb");
}

TEST_CASE("an existing database is not made up") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  const auto store = RunStore::open(file, OpenMode::existing);
  REQUIRE_FALSE(store);
  CHECK_THAT(to_string(store.error()), contains_text("there is no database yet"));
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("a file of no bytes is a database about to be") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  write_file(file, "");
  REQUIRE_OK(RunStore::open(file, OpenMode::create));
}

TEST_CASE("what is no database of ours is refused and left as it is") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  SECTION("a text") {
    write_file(file, "name: tiny\n");
    CHECK_THAT(refusal(file), contains_text("not a database"));
  }
  SECTION("a long text") {
    write_file(file, std::string(5000, 'x'));
    CHECK_THAT(refusal(file), contains_text("not a database"));
  }
  SECTION("another program's database") {
    make_database(file, "CREATE TABLE bookmarks (url TEXT); PRAGMA application_id = 77;");
    CHECK_THAT(refusal(file), contains_text("another program"));
  }
  SECTION("a database without an owner") {
    make_database(file, "CREATE TABLE runs (id INTEGER)");
    CHECK_THAT(refusal(file), contains_text("another program"));
  }
  SECTION("a newer shardlab's database") {
    REQUIRE_OK(RunStore::open(file, OpenMode::create));
    make_database(file, "PRAGMA user_version = 99");
    CHECK_THAT(refusal(file), contains_text("newer shardlab (version 99 of the schema, this program knows " +
                                            std::to_string(schema_version()) + ")"));
  }
}

TEST_CASE("what is no file is refused without waiting for it") {
  const TemporaryFolder folder;
  CHECK_THAT(RunStore::open(folder.path(), OpenMode::create).error().what, contains_text("this is a folder"));
  CHECK_THAT(RunStore::open("/dev/full", OpenMode::create).error().what, contains_text("no ordinary file"));
  const fs::path pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(RunStore::open(pipe, OpenMode::create).error().what, contains_text("no ordinary file"));
  write_file(folder.path() / "file", "x");
  const auto inside_file = RunStore::open(folder.path() / "file" / "runs.db", OpenMode::create);
  REQUIRE_FALSE(inside_file);
  CHECK(inside_file.error().kind == ErrorKind::bad_input);
}

TEST_CASE("damage is reported as damage") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  {
    RunStore store = RunStore::open(file, OpenMode::create).value();
    for (int i = 0; i < 5; ++i) REQUIRE_OK(store.save(hand_made_record()));
  }
  std::string content = content_of(file);
  SECTION("cut off") {
    content.resize(2 * 4096);
  }
  SECTION("overwritten") {
    std::fill(content.begin() + 4096, content.end(), '\x5a');
  }
  write_file(file, content);
  const auto store = RunStore::open(file, OpenMode::existing);
  const auto runs = store ? store->list() : tl::unexpected<Error>(store.error());
  REQUIRE_FALSE(runs);
  CHECK(runs.error().kind == ErrorKind::bad_input);
  CHECK_THAT(runs.error().what, contains_text("damaged"));
}

TEST_CASE("tables that somebody else changed are not a defect of shardlab") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  {
    RunStore store = RunStore::open(file, OpenMode::create).value();
    REQUIRE_OK(store.save(hand_made_record()));
  }
  const auto change = [&](const char* sql) {
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(sql);
  };
  SECTION("a column that is called otherwise") {
    change("ALTER TABLE spans RENAME COLUMN ready_ns TO red_ns");
  }
  SECTION("a plan that is gone") {
    change("PRAGMA foreign_keys = OFF; DELETE FROM plans");
  }
  const auto run = RunStore::open(file, OpenMode::existing)->load(RunId{1});
  REQUIRE_FALSE(run);
  CHECK(run.error().kind == ErrorKind::bad_input);
  CHECK_FALSE(run.error().hint.empty());
}

TEST_CASE("where the database lies") {
  const ScopedVariable chosen("SHARDLAB_DB", nullptr), data("XDG_DATA_HOME", nullptr),
      home("HOME", "/home/someone");
  CHECK(default_database_path().value() == "/home/someone/.local/share/shardlab/shardlab.db");
  const ScopedVariable relative("XDG_DATA_HOME", "not/absolute");
  CHECK(default_database_path().value() == "/home/someone/.local/share/shardlab/shardlab.db");
  const ScopedVariable absolute("XDG_DATA_HOME", "/data");
  CHECK(default_database_path().value() == "/data/shardlab/shardlab.db");
  const ScopedVariable named("SHARDLAB_DB", "mine.db");
  CHECK(default_database_path().value() == "mine.db");
  const ScopedVariable none("SHARDLAB_DB", nullptr), no_data("XDG_DATA_HOME", nullptr),
      no_home("HOME", nullptr);
  CHECK_FALSE(default_database_path().has_value());
}
