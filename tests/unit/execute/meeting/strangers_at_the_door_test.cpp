#include <thread>

#include "engine/execute/meeting/meeting_client.h"
#include "engine/execute/meeting/meeting_server.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using namespace std::chrono_literals;
using Clock = StreamSocket::Clock;

struct Door {
  Result<RunSecret> secret = RunSecret::make();
  Result<std::unique_ptr<MeetingServer>> server = MeetingServer::start("127.0.0.1", 0, *secret);
  int port() const { return (*server)->port(); }
  Result<std::shared_ptr<MeetingClient>> come() const {
    return MeetingClient::come("127.0.0.1", port(), *secret, Clock::now() + 10s);
  }
  Result<StreamSocket> stranger() const {
    return StreamSocket::connect_to("127.0.0.1", port(), Clock::now() + 10s);
  }
};

TEST_CASE("strangers who are silent keep nobody out, however many they are") {
  const Door door;
  REQUIRE_OK(door.server);
  std::vector<StreamSocket> silent;
  for (std::size_t i = 0; i < Doorkeeper::k_most + 50; ++i) {
    auto stranger = door.stranger();
    REQUIRE_OK(stranger);
    silent.push_back(*std::move(stranger));
  }
  REQUIRE_OK(door.come());
}

TEST_CASE("strangers who speak are sent away, and the meeting goes on") {
  const Door door;
  REQUIRE_OK(door.server);
  const auto rank = door.come();
  REQUIRE_OK(rank);
  REQUIRE_OK((*rank)->ask({MeetingVerb::set, 0, {"key", "value"}}, 5s));
  for (const std::string& said : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(100'000, '\xff'),
                                  message_bytes({MeetingVerb::erase, 0, {"key"}})}) {
    const auto stranger = door.stranger();
    REQUIRE_OK(stranger);
    (void)stranger->send(said);
    CHECK_FALSE(stranger->receive(1, Clock::now() + 5s));
  }
  const auto answer = (*rank)->ask({MeetingVerb::get, 0, {"key"}}, 5s);
  REQUIRE_OK(answer);
  CHECK(answer->texts == std::vector<std::string>{"value"});
  CHECK((*door.server)->refused() == 0);
}

TEST_CASE("another secret is refused at once, also one that begins or ends like the run's") {
  const Door door;
  REQUIRE_OK(door.server);
  const std::string text = door.secret->reveal();
  for (const std::string& wrong : {text + "0", text.substr(0, 31), std::string(32, '0')}) {
    bool refused = false;
    const auto client = MeetingClient::come("127.0.0.1", door.port(), *RunSecret::parse(wrong, "test"),
                                            Clock::now() + 10s, &refused);
    CHECK_FALSE(client);
    CHECK(refused);
  }
}

TEST_CASE("a rank that sends no message is not answered any more") {
  const Door door;
  const auto rank = door.stranger();
  REQUIRE_OK(rank);
  REQUIRE_OK(rank->send(meeting_greeting(*door.secret)));
  CHECK(*rank->receive(1, Clock::now() + 5s) == std::string(1, k_welcome));
  REQUIRE_OK(rank->send(MeetingMessage{MeetingVerb::set, 0, {"a key alone"}}));
  CHECK_FALSE(rank->receive(1, Clock::now() + 5s));
  const auto large = door.stranger();
  REQUIRE_OK(large);
  REQUIRE_OK(large->send(meeting_greeting(*door.secret)));
  CHECK(large->receive(1, Clock::now() + 5s));
  REQUIRE_OK(large->send(std::string(4, '\xff')));
  CHECK_FALSE(large->receive(1, Clock::now() + 5s));
  REQUIRE_OK(door.come());
}

TEST_CASE("who waits goes on when the meeting ends") {
  Door door;
  const auto rank = door.come();
  REQUIRE_OK(rank);
  std::thread end([&] {
    std::this_thread::sleep_for(50ms);
    door.server->reset();
  });
  const auto answer = (*rank)->ask({MeetingVerb::wait, 60'000, {"never"}}, 60s);
  end.join();
  CHECK((!answer || answer->verb == MeetingVerb::no));
  CHECK_FALSE((*rank)->ask({MeetingVerb::count, 0, {}}, 5s));
}

TEST_CASE("a place where nobody speaks as a meeting does is left in time") {
  const auto silent = StreamSocket::listen_at("127.0.0.1", 0);
  REQUIRE_OK(silent);
  const auto secret = RunSecret::make();
  bool refused = true;
  CHECK_FALSE(MeetingClient::come("127.0.0.1", silent->port(), *secret, Clock::now() + 100ms, &refused));
  CHECK_FALSE(MeetingClient::come("no.such.name.invalid", 1, *secret, Clock::now() + 100ms));
}

}  // namespace
}  // namespace shardlab
