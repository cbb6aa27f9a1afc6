// The window's reader of the database, while other programs do what they like with the file.
#include "gui/view_model/store_reader.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/store/run_store.h"
#include "gui/view_model/run_library.h"
#include "tests/catch.h"
#include "tests/hand_made_record.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;
namespace fs = std::filesystem;

namespace {

// Looks only when it is asked to, so that nothing here depends on how long anything takes.
StoreReader::Options at_rest() {
  StoreReader::Options options;
  options.look_every = std::chrono::hours(1);
  options.patience = std::chrono::milliseconds(20);
  return options;
}

void save_runs(const fs::path& file, std::initializer_list<std::string> names) {
  RunStore store = RunStore::open(file, OpenMode::create).value();
  for (const std::string& name : names) REQUIRE_OK(store.save(hand_made_record(name)));
}

// Another program in the middle of writing: the lock that SQLite takes for it, by hand, because only the
// store may include SQLite. POSIX locks of the same process do not conflict, so a child holds it.
class LockedByAnother {
 public:
  explicit LockedByAnother(const fs::path& file) {
    int ready[2] = {};
    REQUIRE(::pipe(ready) == 0);
    child_ = ::fork();
    if (child_ == 0) {
      const int descriptor = ::open(file.c_str(), O_RDWR);
      constexpr off_t k_pending_byte = 0x40000000;
      struct flock lock {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      lock.l_start = k_pending_byte;
      lock.l_len = 512;
      const char answer = ::fcntl(descriptor, F_SETLK, &lock) == 0 ? 'y' : 'n';
      if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
      ::pause();
    }
    char answer = 0;
    REQUIRE(::read(ready[0], &answer, 1) == 1);
    ::close(ready[0]);
    ::close(ready[1]);
    REQUIRE(answer == 'y');
  }
  ~LockedByAnother() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  LockedByAnother(const LockedByAnother&) = delete;
  LockedByAnother& operator=(const LockedByAnother&) = delete;

 private:
  pid_t child_ = 0;
};

}  // namespace

TEST_CASE("runs are listed, and listed again when another program stores one") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  save_runs(file, {"a"});
  StoreReader reader(file, at_rest());
  reader.settle();
  REQUIRE(reader.view().runs->size() == 1);
  CHECK_FALSE(reader.view().trouble);
  const std::uint64_t before = reader.view().revision;
  reader.settle();
  CHECK(reader.view().revision == before);  // nothing new is no news
  save_runs(file, {"b"});
  reader.settle();
  CHECK(reader.view().runs->size() == 2);
  CHECK(reader.view().runs->front().name == "b");
}

TEST_CASE("a run is loaded when asked for, once, and one that does not exist is an error of its own") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  save_runs(file, {"a"});
  StoreReader reader(file, at_rest());
  reader.load(RunId{1});
  reader.load(RunId{77});
  reader.settle();
  REQUIRE(reader.view().loaded.count(RunId{1}) == 1);
  const LoadedRunPtr run = reader.view().loaded.at(RunId{1});
  CHECK(run->record.trace.steps == hand_made_record("a").trace.steps);
  CHECK(run->id == RunId{1});
  REQUIRE(reader.view().failed.count(RunId{77}) == 1);
  CHECK_THAT(reader.view().failed.at(RunId{77}).what, contains_text("no run r77"));
  reader.load(RunId{1});
  reader.settle();
  CHECK(reader.view().loaded.at(RunId{1}) == run);
}

TEST_CASE("tags and notes are written, and what cannot be written is told") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  save_runs(file, {"a"});
  StoreReader reader(file, at_rest());
  reader.add_tag(RunId{1}, "checked");
  reader.remove_tag(RunId{1}, "base");
  reader.set_note(RunId{1}, "a new note");
  reader.settle();
  CHECK(reader.view().runs->front().tags == std::vector<std::string>{"checked", "kept"});
  CHECK(reader.view().runs->front().note == "a new note");
  CHECK_FALSE(reader.view().change_failed);
  reader.add_tag(RunId{1}, "");
  reader.settle();
  CHECK(reader.view().change_failed);
}

TEST_CASE("no database yet is told, and the first stored run is shown") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  StoreReader reader(file, at_rest());
  reader.settle();
  REQUIRE(reader.view().trouble);
  CHECK_THAT(reader.view().trouble->what, contains_text("no database yet"));
  CHECK_FALSE(fs::exists(file));  // looking makes none
  save_runs(file, {"a"});
  reader.settle();
  CHECK_FALSE(reader.view().trouble);
  CHECK(reader.view().runs->size() == 1);
}

TEST_CASE("a database that is deleted while open leaves its runs visible") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  save_runs(file, {"a", "b"});
  StoreReader reader(file, at_rest());
  reader.load(RunId{1});
  reader.settle();
  fs::remove(file);
  reader.settle();
  REQUIRE(reader.view().trouble);
  CHECK_THAT(reader.view().trouble->what, contains_text("deleted"));
  CHECK(reader.view().runs->size() == 2);
  CHECK(reader.view().loaded.count(RunId{1}) == 1);
  reader.add_tag(RunId{1}, "lost");  // not into the file that has no name any more
  reader.settle();
  CHECK(reader.view().change_failed);
  save_runs(file, {"c"});
  reader.settle();
  CHECK_FALSE(reader.view().trouble);
  CHECK(reader.view().runs->front().name == "c");
}

TEST_CASE("a database that is replaced has other runs under the same numbers") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db", other = folder.path() / "other.db";
  save_runs(file, {"a"});
  save_runs(other, {"x"});
  StoreReader reader(file, at_rest());
  reader.load(RunId{1});
  reader.settle();
  fs::rename(other, file);
  reader.settle();
  CHECK(reader.view().runs->front().name == "x");
  CHECK(reader.view().loaded.empty());
  reader.load(RunId{1});
  reader.settle();
  CHECK(reader.view().loaded.at(RunId{1})->record.name == "x");
}

TEST_CASE("a database that is deleted and made anew between two looks is another one, whatever its inode") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  save_runs(file, {"a"});
  StoreReader reader(file, at_rest());
  reader.load(RunId{1});
  reader.settle();
  REQUIRE(reader.view().loaded.count(RunId{1}) == 1);
  fs::remove(file);
  save_runs(file, {"x"});
  reader.settle();
  CHECK(reader.view().runs->front().name == "x");
  CHECK(reader.view().loaded.empty());
}

TEST_CASE("a run that could not be read can be asked for again when the file was written to") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  save_runs(file, {"a"});
  StoreReader reader(file, at_rest());
  reader.load(RunId{2});
  reader.settle();
  REQUIRE(reader.view().failed.count(RunId{2}) == 1);
  save_runs(file, {"b"});
  reader.settle();
  CHECK(reader.view().failed.empty());
  reader.load(RunId{2});
  reader.settle();
  CHECK(reader.view().loaded.count(RunId{2}) == 1);
}

TEST_CASE("a run that was read, but not taken, when the database was replaced can be asked for again") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db", other = folder.path() / "other.db";
  save_runs(file, {"a"});
  save_runs(other, {"x"});
  std::atomic<int> answers{0};
  StoreReader::Options options = at_rest();
  options.wake = [&answers] { ++answers; };
  const auto wait_for = [&answers](int count) {
    for (int i = 0; i < 2000 && answers < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    REQUIRE(answers >= count);
  };
  StoreReader reader(file, options);
  wait_for(1);
  reader.load(RunId{1});
  wait_for(2);
  fs::rename(other, file);
  reader.load(RunId{77});  // makes it look
  wait_for(3);
  reader.settle();
  CHECK(reader.view().loaded.empty());
  reader.load(RunId{1});
  reader.settle();
  REQUIRE(reader.view().loaded.count(RunId{1}) == 1);
  CHECK(reader.view().loaded.at(RunId{1})->record.name == "x");
}

TEST_CASE("however many runs are chosen, each is read once and stays") {
  constexpr int k_chosen = 20;
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  std::vector<RunId> chosen;
  for (int i = 1; i <= k_chosen + 3; ++i) {
    save_runs(file, {"a"});
    if (i <= k_chosen) chosen.push_back(RunId{i});
  }
  RunLibrary library;
  library.open(file);
  const auto settled = [&](const std::vector<RunId>& ids) {
    library.loaded(ids);
    library.reader()->settle();
    return library.loaded(ids);
  };
  const std::vector<LoadedRunPtr> first = settled(chosen);
  REQUIRE(first.size() == k_chosen);
  CHECK(settled(chosen) == first);
  CHECK(settled({RunId{k_chosen + 1}}).size() == 1);  // what is no longer chosen may go
  CHECK(settled({RunId{k_chosen + 2}}).size() == 1);
  CHECK(library.view().loaded.size() <= k_chosen);
}

TEST_CASE("a database that is overwritten with rubbish is damaged, not a crash, and may be put back") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db", copy = folder.path() / "copy.db";
  save_runs(file, {"a"});
  fs::copy_file(file, copy);
  StoreReader reader(file, at_rest());
  reader.settle();
  const bool beginning = GENERATE(true, false);
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    if (!beginning) stream.seekp(1024);
    const std::string rubbish(static_cast<std::size_t>(fs::file_size(file)) / 2, beginning ? 'x' : '\xff');
    stream << rubbish;
  }
  reader.load(RunId{1});
  reader.settle();
  INFO((reader.view().trouble ? reader.view().trouble->what : "no trouble"));
  CHECK((reader.view().trouble || reader.view().failed.count(RunId{1}) == 1));
  CHECK(reader.view().runs->size() == 1);
  fs::copy_file(copy, file, fs::copy_options::overwrite_existing);
  reader.load(RunId{1});
  reader.settle();
  CHECK_FALSE(reader.view().trouble);
  CHECK(reader.view().loaded.count(RunId{1}) == 1);
}

TEST_CASE("a locked database is told and read when the lock is gone") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  save_runs(file, {"a"});
  std::optional<StoreReader> reader;
  {
    const LockedByAnother lock(file);
    reader.emplace(file, at_rest());
    reader->settle();
    REQUIRE(reader->view().trouble);
    CHECK_THAT(reader->view().trouble->what, contains_text("another program is using the database"));
  }
  reader->settle();
  CHECK_FALSE(reader->view().trouble);
  CHECK(reader->view().runs->size() == 1);
}

TEST_CASE("opening another database does not wait for one that is locked") {
  const TemporaryFolder folder;
  const fs::path locked = folder.path() / "locked.db", other = folder.path() / "other.db";
  save_runs(locked, {"a"});
  save_runs(other, {"b"});
  const LockedByAnother lock(locked);
  RunLibrary library;
  library.open(locked);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // its reader is patient now, for a second
  const auto begin = std::chrono::steady_clock::now();
  library.open(other);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500));
  library.reader()->settle();
  REQUIRE(library.view().runs->size() == 1);
  CHECK(library.view().runs->front().name == "b");
}

TEST_CASE("polling never waits, and many readers can be made and ended at once") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "runs.db";
  save_runs(file, {"a"});
  for (int i = 0; i < 20; ++i) {
    StoreReader reader(file, at_rest());
    reader.load(RunId{1});
    reader.poll();
  }
  StoreReader reader(file, at_rest());
  while (!reader.poll()) std::this_thread::yield();
  CHECK(reader.view().read);
}
