// Many collectives on communicators that are watched meanwhile: 10,000 under the thread sanitizer
// (./test.sh --sanitize thread), fewer every day.
#include <atomic>
#include <iostream>
#include <utility>

#include "engine/execute/watch/failure_watch.h"
#include "tests/nccl_stand_in/stand_in_library.h"

namespace shardlab {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr int k_collectives = 10'000;
#else
constexpr int k_collectives = 1'000;
#endif

using nccl::Element;
using nccl::Reduction;

void soak(const test::StandIn& stand_in, int rank, int ranks, NcclHandle& handle, int collectives) {
  const NcclLibrary& n = *stand_in.nccl;
  const nccl::Stream stream = test::stream_of(rank);
  const auto members = static_cast<std::size_t>(ranks);
  std::vector<float> full(64 * members, static_cast<float>(rank)), own(64), all(64);
  for (int i = 0; i < collectives; ++i) {
    handle.call("a collective", [&](nccl::CommHandle c) {
      switch (i % 5) {
        case 0: return n.all_gather(own.data(), full.data(), own.size(), Element::float32, c, stream);
        case 1:
          return n.reduce_scatter(full.data(), own.data(), own.size(), Element::float32, Reduction::average,
                                  c, stream);
        case 2:
          return n.all_reduce(all.data(), all.data(), all.size(), Element::float32, Reduction::average, c,
                              stream);
        case 3:
          return n.reduce(all.data(), all.data(), all.size(), Element::float32, Reduction::average, i % ranks,
                          c, stream);
        default: return n.broadcast(all.data(), all.data(), all.size(), Element::float32, 0, c, stream);
      }
    });
    if (i % 64 == 63) stand_in.synchronize(stream);  // as at the end of a step
  }
  stand_in.synchronize(stream);
}

}  // namespace

TEST_CASE("collectives of 2 to 8 ranks beside their watches") {
  const test::StandIn stand_in = test::load_stand_in();
  stand_in.forget();
  for (const auto& [ranks, collectives] :
       {std::pair(2, k_collectives / 2), {4, k_collectives * 3 / 10}, {8, k_collectives / 5}}) {
    test::run_members(
        stand_in, ranks, [&, count = collectives, members = ranks](int rank, const auto& handle) {
          FailureWatch watch;
          watch.add({[&] { return handle->broken(); }, [&](const std::string& why) { handle->abort(why); }});
          // More questions than a watch asks, so that they meet every kind of call.
          std::atomic<bool> stop{false};
          std::thread curious([&] {
            while (!stop) {
              (void)handle->broken();
              std::this_thread::sleep_for(std::chrono::microseconds(500));
            }
          });
          soak(stand_in, rank, members, *handle, count);
          stop = true;
          curious.join();
          watch.check();
          watch.stop();
          handle->close();
        });
    std::cout << ranks << " ranks: " << collectives << " collectives\n";
  }
  CHECK(std::string(stand_in.violation()) == "");
}

}  // namespace shardlab
