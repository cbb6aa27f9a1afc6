// Crashes, full disks and two writers: whatever happens, the database opens and has whole runs only.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <fstream>
#include <functional>
#include <set>

#include "engine/store/run_store.h"
#include "tests/catch.h"
#include "tests/hand_made_record.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;
namespace fs = std::filesystem;

namespace {

constexpr int k_error_as_expected = 10;
constexpr int k_saved = 11;
constexpr int k_cannot_try = 12;
constexpr int k_exception = 13;

// Runs `work` in a child process; its result is the exit code.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    int code = k_exception;
    try {
      code = work();
    } catch (...) {  // a failed REQUIRE as well: the parent reports the code
    }
    _exit(code);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

void limit_file_size(std::uintmax_t bytes) {
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

// A run large enough for many pages: about 100 KiB of rows.
RunRecord large_record() {
  return hand_made_record("large", RunKind::measured, 100);
}

fs::path database_with_one_run(const fs::path& folder) {
  const fs::path file = folder / "runs.db";
  RunStore store = RunStore::open(file, OpenMode::create).value();
  REQUIRE_OK(store.save(hand_made_record("old")));
  return file;
}

// Exactly the runs of these names, each whole, and a sound file.
void check_content(const fs::path& file, const std::multiset<std::string>& names) {
  const auto store = RunStore::open(file, OpenMode::existing);
  REQUIRE_OK(store);
  const auto entries = store->list();
  REQUIRE_OK(entries);
  std::multiset<std::string> found;
  for (const RunEntry& entry : *entries) {
    found.insert(entry.name);
    const RunRecord expected = entry.name == "large" ? large_record() : hand_made_record(entry.name);
    const auto run = store->load(entry.id);
    REQUIRE_OK(run);
    CHECK(run->trace.steps == expected.trace.steps);
  }
  CHECK(found == names);
  SQLite::Database db(file.string(), SQLite::OPEN_READONLY);
  CHECK(db.execAndGet("PRAGMA integrity_check").getString() == "ok");
  CHECK(db.execAndGet("SELECT count(*) FROM steps WHERE run_id NOT IN (SELECT id FROM runs)").getInt() == 0);
  CHECK(db.execAndGet("SELECT count(*) FROM spans WHERE step_id NOT IN (SELECT id FROM steps)").getInt() ==
        0);
}

// In a child: saves the large run and expects one clear error, after which the same store still lists the old
// run and, with `release` having made room, saves.
int save_without_space(const fs::path& file, const std::function<void()>& release) {
  auto store = RunStore::open(file, OpenMode::create);
  if (!store) return 1;
  const auto id = store->save(large_record());
  if (id) return 2;
  if (id.error().kind != ErrorKind::not_possible || where_text(id.error()) != file.string()) return 3;
  if (id.error().hint.find("unharmed") == std::string::npos) return 4;
  const auto entries = store->list();
  if (!entries || entries->size() != 1) return 5;
  if (!release) return k_error_as_expected;
  release();
  return store->save(large_record()) ? k_saved : 6;
}

}  // namespace

TEST_CASE("a file that cannot grow: one clear error, the old content stays") {
  const TemporaryFolder folder;
  const fs::path file = database_with_one_run(folder.path());
  const auto size = fs::file_size(file);
  for (const std::uintmax_t room : {0U, 4096U, 40960U}) {
    CAPTURE(room);
    const int status = in_child([&] {
      signal(SIGXFSZ, SIG_IGN);
      limit_file_size(size + room);
      return save_without_space(file, nullptr);
    });
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == k_error_as_expected);
    check_content(file, {"old"});
  }
}

TEST_CASE("a new database without space is no database, and can be tried again") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  for (const std::uintmax_t room : {0U, 4096U, 20000U}) {
    const int status = in_child([&] {
      signal(SIGXFSZ, SIG_IGN);
      limit_file_size(room);
      const auto store = RunStore::open(file, OpenMode::create);
      return !store && store.error().kind == ErrorKind::not_possible ? k_error_as_expected : 1;
    });
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == k_error_as_expected);
  }
  REQUIRE_OK(RunStore::open(file, OpenMode::create));
  check_content(file, {});
}

TEST_CASE("a full file system: one clear error, and room again is enough") {
  const TemporaryFolder folder;
  // A small file system of its own, in a mount namespace that only the child sees.
  const int status = in_child([&] {
    const int user = getuid() == 0 ? 0 : CLONE_NEWUSER;
    if (unshare(CLONE_NEWNS | user) != 0) return k_cannot_try;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return k_cannot_try;
    if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=400k") != 0) return k_cannot_try;
    const fs::path file = database_with_one_run(folder.path());
    const fs::path filler = folder.path() / "filler";
    std::ofstream(filler, std::ios::binary) << std::string(fs::space(folder.path()).available - 20000, 'x');
    return save_without_space(file, [&] { fs::remove(filler); });
  });
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == k_cannot_try) {
    WARN("not tried: this user may not mount a file system");
    return;
  }
  CHECK(WEXITSTATUS(status) == k_saved);
}

TEST_CASE("a process that dies while it writes leaves whole runs") {
  const TemporaryFolder folder;
  const fs::path file = database_with_one_run(folder.path());
  const auto size = fs::file_size(file);
  // The kernel kills the child at the write that would pass the limit, that is in the middle of the commit.
  for (const std::uintmax_t room : {0U, 4096U, 8192U, 40960U, 81920U}) {
    CAPTURE(room);
    const int status = in_child([&] {
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      auto store = RunStore::open(file, OpenMode::existing);
      limit_file_size(size + room);
      return store && store->save(large_record()) ? k_saved : 1;
    });
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGXFSZ);
    check_content(file, {"old"});
  }
}

TEST_CASE("a process that is killed before its commit leaves nothing") {
  const TemporaryFolder folder;
  const fs::path file = database_with_one_run(folder.path());
  const int status = in_child([&] {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    db.exec("PRAGMA cache_size = 1");  // so that rows reach the file before the commit
    db.exec("BEGIN IMMEDIATE");
    for (int i = 1; i <= 200; ++i) {
      db.exec("INSERT INTO training VALUES (1, " + std::to_string(1000 + i) +
              ", hex(randomblob(500)), NULL)");
    }
    return raise(SIGKILL);
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(fs::exists(file.string() + "-journal"));
  check_content(file, {"old"});
}

TEST_CASE("two writers take turns") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  constexpr int k_writers = 3, k_runs = 6;
  std::vector<pid_t> children;
  for (int writer = 0; writer < k_writers; ++writer) {
    const pid_t child = fork();
    if (child == 0) {  // opening at once: they also race to make the database
      auto store = RunStore::open(file, OpenMode::create);
      if (!store) _exit(1);
      for (int i = 0; i < k_runs; ++i) {
        if (!store->save(hand_made_record("w" + std::to_string(writer)))) _exit(2);
      }
      _exit(0);
    }
    REQUIRE(child > 0);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  std::multiset<std::string> names;
  for (int writer = 0; writer < k_writers; ++writer) {
    for (int i = 0; i < k_runs; ++i) names.insert("w" + std::to_string(writer));
  }
  check_content(file, names);
}

TEST_CASE("readers are served while a writer prepares") {
  const TemporaryFolder folder;
  const fs::path file = database_with_one_run(folder.path());
  SQLite::Database writer(file.string(), SQLite::OPEN_READWRITE);
  writer.exec("BEGIN IMMEDIATE");
  writer.exec("UPDATE runs SET note = 'changed'");
  const auto store = RunStore::open(file, OpenMode::existing);
  REQUIRE_OK(store);
  CHECK(store->list().value().front().note == "the first one");
}

TEST_CASE("a file that may not be written is readable, and says so when it is written") {
  const TemporaryFolder folder;
  const fs::path file = database_with_one_run(folder.path());
  const int status = in_child([&] {
    if (getuid() == 0 && setuid(65534) != 0) return k_cannot_try;
    auto store = RunStore::open(file, OpenMode::existing);
    if (!store || store->list().value().size() != 1) return 1;
    const auto id = store->save(hand_made_record("new"));
    if (id) return 2;
    return id.error().kind == ErrorKind::bad_input &&
                   id.error().what.find("may not be written") != std::string::npos
               ? k_error_as_expected
               : 3;
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == k_cannot_try) return;
  if (getuid() != 0) return;  // the owner of the file may write it
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == k_error_as_expected);
  check_content(file, {"old"});
}
