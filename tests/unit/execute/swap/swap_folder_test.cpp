// Files of runs that are gone are removed, those of others never, and no link is followed.
#include <signal.h>
#include <sys/stat.h>

#include <fstream>

#include "engine/execute/swap/swap_removal.h"
#include "tests/unit/execute/swap/swap_fixture.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;
using test::open_swap;
using test::swap_options;

SwapOptions of_run(const fs::path& folder, const char* run, int rank = 0) {
  SwapOptions options = swap_options(folder);
  options.run = run;
  options.rank = rank;
  return options;
}

// A process that opens a drive, and lives until it is killed.
class OtherProcess {
 public:
  explicit OtherProcess(const SwapOptions& options) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    process_ = ::fork();
    if (process_ == 0) {
      const auto drive = SwapDrive::open(options);
      const bool is_made = drive && (*drive)->create("state", {8192});
      static_cast<void>(!::write(ends[1], is_made ? "y" : "n", 1));
      for (;;) ::pause();
    }
    char answer = 0;
    const bool answered = ::read(ends[0], &answer, 1) == 1;
    ::close(ends[0]);
    ::close(ends[1]);
    REQUIRE(answered);
    REQUIRE(answer == 'y');
  }
  ~OtherProcess() { kill(); }
  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
};

TEST_CASE("folders are this user's alone and go with their drives") {
  const test::TemporaryFolder here;
  {
    const auto first = open_swap(of_run(here.path(), "r", 0));
    const auto second = open_swap(of_run(here.path(), "r", 1));
    REQUIRE_OK(first->create("a", {1}));
    const fs::path run = here.path() / "shardlab-swap-r";
    CHECK(fs::status(run).permissions() == fs::perms::owner_all);
    CHECK(fs::status(run / "rank0").permissions() == fs::perms::owner_all);
    CHECK(fs::status(run / "rank0/a").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    const auto again = SwapDrive::open(of_run(here.path(), "r", 0));
    REQUIRE_FALSE(again);
    CHECK(again.error().what == "is there already, and a process that lives seems to use it");
    CHECK(fs::exists(run / "rank0/a"));
  }
  CHECK(fs::is_empty(here.path()));
}

TEST_CASE("what a killed process left is removed by the next, what a living one has is not") {
  const test::TemporaryFolder here;
  OtherProcess killed(of_run(here.path(), "killed")), killed_rank(of_run(here.path(), "half", 0)),
      living(of_run(here.path(), "half", 1));
  killed.kill();
  killed_rank.kill();
  CHECK(fs::exists(here.path() / "shardlab-swap-killed/rank0/state"));
  {
    const auto drive = open_swap(of_run(here.path(), "new"));
    CHECK_FALSE(fs::exists(here.path() / "shardlab-swap-killed"));
    CHECK_FALSE(fs::exists(here.path() / "shardlab-swap-half/rank0"));
    CHECK(fs::exists(here.path() / "shardlab-swap-half/rank1/state"));
    // A rank that was killed begins again under its own name.
    open_swap(of_run(here.path(), "half", 0));
    CHECK(fs::exists(here.path() / "shardlab-swap-half/rank1/state"));
  }
  living.kill();
  open_swap(of_run(here.path(), "new"));
  CHECK(fs::is_empty(here.path()));
}

TEST_CASE("folders that are not known to be abandoned are left alone") {
  const test::TemporaryFolder here;
  fs::create_directories(here.path() / "shardlab-swap-a/rank0");
  std::ofstream(here.path() / "shardlab-swap-a/rank0/thesis.tex") << "dear\n";  // without a lock
  fs::create_directories(here.path() / "shardlab-swap-b/rank0");
  std::ofstream(here.path() / "shardlab-swap-b/rank0/.lock") << "another.host";
  fs::create_directories(here.path() / "shardlab-swap-c/rank0");  // killed before it had a lock
  fs::create_directories(here.path() / "home/rank0");
  std::ofstream(here.path() / "home/rank0/.lock") << "";
  fs::create_directory_symlink(here.path() / "home", here.path() / "shardlab-swap-d");
  open_swap(of_run(here.path(), "new"));
  CHECK(fs::exists(here.path() / "shardlab-swap-a/rank0/thesis.tex"));
  CHECK(fs::exists(here.path() / "shardlab-swap-b/rank0/.lock"));
  CHECK_FALSE(fs::exists(here.path() / "shardlab-swap-c"));
  CHECK(fs::exists(here.path() / "home/rank0/.lock"));
}

TEST_CASE("folders of another user are left alone") {
  if (::geteuid() != 0) {
    WARN("not tested: only root can make one");
    return;
  }
  const test::TemporaryFolder here;
  const fs::path folder = here.path() / "shardlab-swap-r";
  fs::create_directories(folder / "rank0");
  std::ofstream(folder / "rank0/.lock") << "";
  REQUIRE(::chown(folder.c_str(), 12345, 12345) == 0);
  const auto drive = SwapDrive::open(of_run(here.path(), "r"));
  REQUIRE_FALSE(drive);
  CHECK_THAT(drive.error().what, test::contains_text("belongs to another user"));
  CHECK_FALSE(remove_swap_of_run(here.path(), "r"));
  CHECK(fs::exists(folder / "rank0/.lock"));
}

TEST_CASE("links in place of folders are refused") {
  const test::TemporaryFolder here;
  fs::create_directories(here.path() / "home/rank0");
  std::ofstream(here.path() / "home/rank0/letter") << "dear\n";
  fs::create_directory_symlink(here.path() / "home", here.path() / "shardlab-swap-r");
  const auto of_link = SwapDrive::open(of_run(here.path(), "r"));
  REQUIRE_FALSE(of_link);
  CHECK_THAT(of_link.error().what, test::contains_text("is a link, not a folder of shardlab's own"));
  const Status removed = remove_swap_of_run(here.path(), "r");
  REQUIRE_FALSE(removed);
  CHECK(removed.error().what == "is a link, not a folder of shardlab's own");
  fs::create_directory(here.path() / "shardlab-swap-s");
  fs::create_directory_symlink(here.path() / "home/rank0", here.path() / "shardlab-swap-s/rank0");
  CHECK_FALSE(SwapDrive::open(of_run(here.path(), "s")));
  REQUIRE_OK(remove_swap_of_run(here.path(), "s"));  // the link goes, what it leads to stays
  std::ofstream(here.path() / "shardlab-swap-t") << "dear\n";
  CHECK_FALSE(SwapDrive::open(of_run(here.path(), "t")));
  CHECK(fs::exists(here.path() / "home/rank0/letter"));
}

TEST_CASE("the folder that the user names may be a link") {
  const test::TemporaryFolder here;
  fs::create_directory(here.path() / "disk");
  fs::create_directory_symlink(here.path() / "disk", here.path() / "nvme");
  const auto drive = open_swap(of_run(here.path() / "nvme", "r"));
  REQUIRE_OK(drive->create("a", {1}));
  CHECK(fs::exists(here.path() / "disk/shardlab-swap-r/rank0/a"));
}

TEST_CASE("a launcher removes everything of its run and nothing else") {
  const test::TemporaryFolder here;
  OtherProcess other(of_run(here.path(), "other"));
  OtherProcess killed(of_run(here.path(), "r", 0)), hanging(of_run(here.path(), "r", 1));
  killed.kill();
  fs::create_directories(here.path() / "shardlab-swap-r/rank0/deep/er");
  REQUIRE_OK(remove_swap_of_run(here.path(), "r"));
  CHECK_FALSE(fs::exists(here.path() / "shardlab-swap-r"));
  CHECK(fs::exists(here.path() / "shardlab-swap-other/rank0/state"));
  REQUIRE_OK(remove_swap_of_run(here.path(), "r"));
  REQUIRE_OK(remove_swap_of_run(here.path() / "none", "r"));
  CHECK(remove_swap_of_run(here.path(), "../r").error().kind == ErrorKind::bad_input);
}

TEST_CASE("a drive whose folder was removed ends all the same") {
  const test::TemporaryFolder here;
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    SwapOptions options = of_run(here.path(), "r");
    options.mechanism = mechanism;
    const auto drive = open_swap(options);
    REQUIRE_OK(drive->create("a", {100'000}));
    test::SwapMemory memory(100'000);
    REQUIRE_OK(drive->write("a", 1, memory.span())->wait());
    fs::remove_all(here.path() / "shardlab-swap-r");
    CHECK(drive->read("a", memory.span())->wait().error().what == "is gone");
    const Status made = drive->create("b", {1});
    REQUIRE_FALSE(made);
    CHECK(made.error().what == "is gone");
  }
}

TEST_CASE("many drives are made and removed at once beside one another") {
  const test::TemporaryFolder here;
  std::vector<pid_t> processes;
  for (int rank = 0; rank < 4; ++rank) {
    const pid_t process = ::fork();
    if (process == 0) {
      bool good = true;
      for (int i = 0; i < 25; ++i) {
        const auto drive = SwapDrive::open(of_run(here.path(), i % 2 == 0 ? "a" : "b", rank));
        good = good && drive && (*drive)->create("x", {4096});
      }
      ::_exit(good ? 0 : 1);
    }
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = 0;
    REQUIRE(::waitpid(process, &status, 0) == process);
    CHECK(status == 0);
  }
  CHECK(fs::is_empty(here.path()));
}

}  // namespace
}  // namespace shardlab
