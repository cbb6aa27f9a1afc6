// Ranks that listen to each other through a store, with a short patience.
#include "engine/execute/watch/peer_watch.h"

#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/execute/watch/values_in_memory.h"

namespace shardlab {
namespace {

using namespace std::chrono_literals;

constexpr PeerWatchOptions k_hasty{1ms, 60ms};

struct Ranks {
  std::shared_ptr<SharedValues> store = std::make_shared<test::ValuesInMemory>();
  PeerWatch make(int rank, int world) { return {store, rank, world, k_hasty}; }
};

// Polls all but the silent one for a while; what the first of them says.
std::optional<std::string> listen(std::vector<PeerWatch>& ranks, std::size_t silent,
                                  std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (i == silent) continue;
      if (auto wrong = ranks[i].poll()) return wrong;
    }
    std::this_thread::sleep_for(2ms);
  }
  return std::nullopt;
}

constexpr std::size_t k_nobody = 99;

}  // namespace

TEST_CASE("ranks that beat are left alone, one that is silent is named to all") {
  Ranks meeting;
  std::vector<PeerWatch> ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.push_back(meeting.make(rank, 3));
  CHECK_FALSE(listen(ranks, k_nobody, 200ms));
  const auto wrong = listen(ranks, 2, 2000ms);
  REQUIRE(wrong);
  CHECK_THAT(*wrong, test::contains_text("rank 2 has not been heard of"));
  // Rank 0 does not listen to rank 2 itself; it is told.
  std::this_thread::sleep_for(5ms);
  const auto told = ranks[0].poll();
  REQUIRE(told);
  CHECK(*told == *wrong);
}

TEST_CASE("a rank that never came is missed too") {
  Ranks meeting;
  std::vector<PeerWatch> ranks;
  ranks.push_back(meeting.make(0, 2));
  const auto wrong = listen(ranks, k_nobody, 2000ms);
  REQUIRE(wrong);
  CHECK_THAT(*wrong, test::contains_text("rank 1"));
}

TEST_CASE("what a rank reports reaches the others, and the first report counts") {
  Ranks meeting;
  PeerWatch first = meeting.make(0, 2);
  PeerWatch second = meeting.make(1, 2);
  first.report("rank 0, step 3, 37 Forward s3: out of memory");
  second.report("rank 1 was only waiting");
  const auto told = second.poll();
  REQUIRE(told);
  CHECK_THAT(*told, test::contains_text("37 Forward s3"));
}

TEST_CASE("a rank that finished may be silent") {
  Ranks meeting;
  std::vector<PeerWatch> ranks;
  for (int rank = 0; rank < 2; ++rank) ranks.push_back(meeting.make(rank, 2));
  CHECK_FALSE(listen(ranks, k_nobody, 20ms));
  ranks[1].finish();
  CHECK_FALSE(listen(ranks, 1, 200ms));
}

}  // namespace shardlab
