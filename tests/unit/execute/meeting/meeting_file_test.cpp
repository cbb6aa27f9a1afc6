#include "engine/execute/meeting/meeting_file.h"

#include <sys/stat.h>

#include <fstream>

#include "engine/execute/run_folder.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

TEST_CASE("the word of a meeting reads back, and this user alone can read it") {
  const test::TemporaryFolder folder;
  CHECK_FALSE(read_meeting_word(folder.path()));
  const auto secret = RunSecret::make();
  REQUIRE_OK(secret);
  for (const bool with_secret : {false, true}) {
    MeetingWord word{4711, std::nullopt};
    if (with_secret) word.secret = *secret;
    REQUIRE_OK(write_meeting_word(folder.path(), word));
    const auto back = read_meeting_word(folder.path());
    REQUIRE(back);
    CHECK(back->port == 4711);
    REQUIRE(back->secret.has_value() == with_secret);
    if (with_secret) CHECK(back->secret->is(secret->reveal()));
    struct stat status {};
    REQUIRE(::stat(meeting_file(folder.path()).c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
  }
  remove_meeting_word(folder.path());
  CHECK_FALSE(read_meeting_word(folder.path()));
}

TEST_CASE("what is no word of this user's is none") {
  const test::TemporaryFolder folder;
  const fs::path file = meeting_file(folder.path());
  for (const char* text : {"", "x", "0 0123456789abcdef", "70000 0123456789abcdef", "4711 short"}) {
    INFO(text);
    std::ofstream(file) << text;
    CHECK_FALSE(read_meeting_word(folder.path()));
  }
  fs::remove(file);
  std::ofstream(folder.path() / "elsewhere") << "4711 0123456789abcdef";
  fs::create_symlink(folder.path() / "elsewhere", file);
  CHECK_FALSE(read_meeting_word(folder.path()));
  fs::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  CHECK_FALSE(read_meeting_word(folder.path()));  // and nobody is waited for
}

TEST_CASE("the word is one of the run's files, which end with its folder") {
  CHECK(is_run_file("meeting"));
  CHECK(is_run_file("meeting.4711.part"));
}

}  // namespace
}  // namespace shardlab
