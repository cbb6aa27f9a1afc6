#include "engine/execute/meeting/come_to_meeting.h"

#include <fstream>
#include <thread>

#include "engine/execute/meeting/meeting_file.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using namespace std::chrono_literals;
using test::contains_text;

RankEnvironment rank_environment_of(int rank, int port = 0) {
  RankEnvironment environment;
  environment.rank = rank;
  environment.world = 2;
  environment.master_address = "127.0.0.1";
  environment.master_port = port;
  return environment;
}

EnvironmentVariables with_secret(const std::string& text) {
  return {{"SHARDLAB_RUN_SECRET", text}};
}

TEST_CASE("ranks meet by the word that rank 0 leaves, and tell each other values") {
  const test::TemporaryFolder folder;
  Result<Meeting> other = run_failed("nobody", "has come");
  std::thread waiting([&] { other = come_to_meeting(rank_environment_of(1), folder.path(), {}, 10s); });
  const auto meeting = come_to_meeting(rank_environment_of(0), folder.path(), {}, 10s);
  waiting.join();
  REQUIRE_OK(meeting);
  REQUIRE_OK(other);
  CHECK_FALSE(other->server);
  REQUIRE_OK(meeting->client->ask({MeetingVerb::set, 0, {"key", "value"}}, 5s));
  const auto answer = other->client->ask({MeetingVerb::get, 0, {"key"}}, 5s);
  REQUIRE_OK(answer);
  CHECK(answer->texts == std::vector<std::string>{"value"});
  CHECK(meeting->server->refused() == 0);
}

TEST_CASE("a port that is taken is no harm: the word says which one it is") {
  const test::TemporaryFolder folder;
  const auto taken = StreamSocket::listen_at("127.0.0.1", 0);
  REQUIRE_OK(taken);
  const auto meeting = come_to_meeting(rank_environment_of(0, taken->port()), folder.path(), {}, 10s);
  REQUIRE_OK(meeting);
  CHECK(meeting->server->port() != taken->port());
  REQUIRE_OK(come_to_meeting(rank_environment_of(1, taken->port()), folder.path(), {}, 10s));
}

TEST_CASE("an earlier run's word is no harm once rank 0 has come") {
  const test::TemporaryFolder folder;
  std::ofstream(meeting_file(folder.path())) << "1 0123456789abcdef";
  Result<Meeting> other = run_failed("nobody", "has come");
  std::thread waiting([&] { other = come_to_meeting(rank_environment_of(1), folder.path(), {}, 10s); });
  std::this_thread::sleep_for(50ms);
  const auto meeting = come_to_meeting(rank_environment_of(0), folder.path(), {}, 10s);
  waiting.join();
  REQUIRE_OK(meeting);
  REQUIRE_OK(other);
}

TEST_CASE("a user's secret is in no file, and whoever has another one is told") {
  const test::TemporaryFolder folder;
  const auto meeting =
      come_to_meeting(rank_environment_of(0), folder.path(), with_secret("the-run's-secret"), 10s);
  REQUIRE_OK(meeting);
  REQUIRE(read_meeting_word(folder.path()));
  CHECK_FALSE(read_meeting_word(folder.path())->secret);
  REQUIRE_OK(come_to_meeting(rank_environment_of(1), folder.path(), with_secret("the-run's-secret"), 10s));
  for (const auto& variables : {with_secret("another-secret-of"), EnvironmentVariables{}}) {
    const auto refused = come_to_meeting(rank_environment_of(1), folder.path(), variables, 200ms);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::run_failed);
    CHECK(refused.error().place.rank == 1);
    CHECK_THAT(refused.error().what, contains_text("rank 0 has another secret of the run"));
    CHECK_THAT(refused.error().hint, contains_text("SHARDLAB_RUN_SECRET"));
  }
  CHECK(meeting->server->refused() > 0);
}

TEST_CASE("without rank 0 the others end when their time is over") {
  const test::TemporaryFolder folder;
  const auto nobody = come_to_meeting(rank_environment_of(1, 4711), folder.path(), {}, 100ms);
  REQUIRE_FALSE(nobody);
  CHECK_THAT(nobody.error().what, contains_text("no meeting point at 127.0.0.1:4711 within 0.1 s"));
  CHECK_THAT(nobody.error().what, contains_text(folder.path().string()));
}

}  // namespace
}  // namespace shardlab
