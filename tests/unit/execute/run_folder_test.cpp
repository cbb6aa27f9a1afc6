// Files of others survive, wherever the folder of a run seems to be.
#include "engine/execute/run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "engine/execute/rank_orders.h"
#include "engine/execute/rank_team.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file) {
  std::ofstream(file) << "dear\n";
}

TEST_CASE("orders are never given through a link, and what it points to is left alone") {
  const test::TemporaryFolder here;
  fs::create_directory(here.path() / "home");
  for (const char* name : {"letter", "here-1", "session"}) write(here.path() / "home" / name);
  const fs::path meeting = here.path() / "meet";
  fs::create_directory_symlink(here.path() / "home", meeting);
  const auto writer = OrderWriter::create(meeting, 2);
  REQUIRE_FALSE(writer);
  CHECK(writer.error().what == "is a link, not a folder of shardlab's own");
  RankEnvironment second;
  second.rank = 1;
  const auto code = follow_rank_0(
      second, meeting, [](bool) -> Result<fs::path> { return "none"; }, std::chrono::milliseconds(1));
  REQUIRE_FALSE(code);
  CHECK(code.error().what == "is a link, not a folder of shardlab's own");
  remove_run_folder(meeting);
  for (const char* name : {"letter", "here-1", "session"}) CHECK(fs::exists(here.path() / "home" / name));
  CHECK(std::distance(fs::directory_iterator(here.path() / "home"), {}) == 3);
}

TEST_CASE("only files that runs write are removed") {
  const test::TemporaryFolder here;
  const fs::path meeting = here.path() / "meet";
  fs::create_directories(meeting / "run-1");
  fs::create_directories(meeting / "src");
  const std::vector<const char*> own = {"here-1", "order-12.4711.part", "done-2-31", "rank-0.spool",
                                        "run-1/job.json"};
  const std::vector<const char*> others = {"here-", "thesis.tex", "done-2", "src/order-1", "run-1/job.txt"};
  for (const char* name : own) write(meeting / name);
  for (const char* name : others) write(meeting / name);
  REQUIRE_OK(OrderWriter::create(meeting, 2));
  for (const char* name : own) CHECK_FALSE(fs::exists(meeting / name));
  for (const char* name : others) CHECK(fs::exists(meeting / name));
  remove_run_folder(meeting);
  CHECK(fs::exists(meeting / "thesis.tex"));
}

TEST_CASE("a folder of a run is open to its user alone") {
  const test::TemporaryFolder here;
  const fs::path folder = here.path() / "meet";
  const auto mode = [&] { return fs::status(folder).permissions() & fs::perms::all; };
  REQUIRE_OK(make_run_folder(folder));
  CHECK(mode() == fs::perms::owner_all);
  fs::permissions(folder, fs::perms::all);
  REQUIRE_OK(make_run_folder(folder));
  CHECK(mode() == fs::perms::owner_all);
  remove_run_folder(folder);
  CHECK_FALSE(fs::exists(folder));
  write(folder);
  CHECK(make_run_folder(folder).error().what == "is no folder");
}

TEST_CASE("a folder of another user is refused") {
  if (::geteuid() != 0) {
    WARN("not tested: only root can make one");
    return;
  }
  const test::TemporaryFolder here;
  const fs::path folder = here.path() / "meet";
  fs::create_directory(folder);
  write(folder / "here-1");
  REQUIRE(::chown(folder.c_str(), 12345, 12345) == 0);
  CHECK(OrderWriter::create(folder, 2).error().what == "belongs to another user");
  CHECK(fs::exists(folder / "here-1"));
}

}  // namespace
}  // namespace shardlab
