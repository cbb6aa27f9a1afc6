#include "engine/execute/torch/communication/meeting_store.h"

#include <thread>

#include "engine/execute/torch/communication/rendezvous.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using namespace std::chrono_literals;
using test::contains_text;

RankEnvironment one_of_two(int rank) {
  RankEnvironment environment;
  environment.rank = rank;
  environment.world = 2;
  environment.master_address = "127.0.0.1";
  return environment;
}

RendezvousOptions options_in(const test::TemporaryFolder& folder) {
  RendezvousOptions options;
  options.run_directory = folder.path();
  options.arrival_timeout = 20s;
  return options;
}

TEST_CASE("a meeting is a store of c10d") {
  const test::TemporaryFolder folder;
  auto meeting = come_to_meeting(one_of_two(0), folder.path(), {}, 10s);
  REQUIRE_OK(meeting);
  MeetingStore store(*std::move(meeting), 10s);
  store.set("a", std::string("\0x", 2));
  CHECK(store.get_to_str("a") == std::string("\0x", 2));
  CHECK(store.add("n", 2) == 2);
  CHECK(store.add("n", 3) == 5);
  CHECK(store.compareSet("a", "y", "z") == std::string("\0x", 2));
  CHECK(store.compareSet("b", "", "z") == "z");
  store.append("b", {'!'});
  CHECK(store.clone()->get_to_str("b") == "z!");
  CHECK(store.check({"a", "b"}));
  CHECK(store.getNumKeys() == 3);
  CHECK(store.deleteKey("a"));
  CHECK_FALSE(store.check({"a"}));
  CHECK_THROWS_WITH(store.wait({"a"}, 10ms), contains_text("nobody set a within 0.01 s"));
}

TEST_CASE("ranks meet, connect, and tell each other values") {
  const test::TemporaryFolder folder;
  const auto take_part = [&](int rank) -> Status {
    SHARDLAB_TRY(const Rendezvous rendezvous, Rendezvous::connect(one_of_two(rank), options_in(folder)));
    SHARDLAB_TRY(const auto communicator, rendezvous.communicator("both", {0, 1}, rank));
    KeyValueStore values = rendezvous.store();
    SHARDLAB_CHECK_OK(values.set("from/" + std::to_string(rank), "here"));
    SHARDLAB_TRY(const std::string heard, values.wait("from/" + std::to_string(1 - rank), 10s));
    if (heard != "here") return run_failed("values", heard);
    // Rank 0's store is there until both have read it.
    SHARDLAB_CHECK_OK(values.set("read/" + std::to_string(rank), ""));
    if (rank == 0) SHARDLAB_CHECK_OK(values.wait("read/1", 10s));
    return {};
  };
  Status other;
  std::thread thread([&] { other = take_part(1); });
  const Status own = take_part(0);
  thread.join();
  REQUIRE_OK(own);
  REQUIRE_OK(other);
}

TEST_CASE("who does not come is named") {
  const test::TemporaryFolder folder;
  RendezvousOptions options = options_in(folder);
  options.arrival_timeout = 200ms;
  const auto alone = Rendezvous::connect(one_of_two(0), options);
  REQUIRE_FALSE(alone);
  CHECK_THAT(alone.error().what, contains_text("rank 1 of 2 did not arrive within 0.2 s"));
}

}  // namespace
}  // namespace shardlab
