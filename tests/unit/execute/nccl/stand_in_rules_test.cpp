// The library in NCCL's place computes what NCCL computes and finds each broken rule.
#include <numeric>

#include "tests/nccl_stand_in/stand_in_library.h"

namespace shardlab {
namespace {

using namespace std::chrono_literals;
using nccl::Element;
using nccl::Outcome;
using nccl::Reduction;
using test::contains_text;

void must(Outcome outcome) {
  if (outcome != Outcome::success)
    throw std::runtime_error("outcome " + std::to_string(static_cast<int>(outcome)));
}
void must(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what);
}

// A communicator for each rank, made by hand, so that rules can be broken.
std::vector<nccl::CommHandle> raw_members(const test::StandIn& stand_in, int ranks, int blocking) {
  const nccl::UniqueId id = test::new_id(stand_in);
  std::vector<nccl::CommHandle> members(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      nccl::Config config;
      config.blocking = blocking;
      (void)stand_in.nccl->init_rank(&members[static_cast<std::size_t>(rank)], ranks, id, rank, &config);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return members;
}

// More elements than are moved at once, and one.
const std::vector<std::size_t> k_counts{1, 100'003};

}  // namespace

TEST_CASE("collectives of 2 to 8 ranks have the right results") {
  const test::StandIn stand_in = test::load_stand_in();
  stand_in.forget();
  const NcclLibrary& n = *stand_in.nccl;
  for (const int ranks : {2, 3, 8}) {
    test::run_members(stand_in, ranks, [&](int rank, const auto& handle) {
      const nccl::Stream stream = test::stream_of(rank);
      for (const std::size_t count : k_counts) {
        const auto parts = static_cast<std::size_t>(ranks);
        std::vector<float> gathered(count * parts, -1), full(count * parts), own(count), all(count);
        for (std::size_t i = 0; i < count; ++i) {
          gathered[static_cast<std::size_t>(rank) * count + i] = static_cast<float>(rank * 7 + i % 13);
          all[i] = static_cast<float>(rank) + static_cast<float>(i % 5);
        }
        for (std::size_t i = 0; i < full.size(); ++i)
          full[i] = static_cast<float>(rank + 1) * static_cast<float>(i % 11);
        handle->call("all-gather", [&](nccl::CommHandle c) {  // in place
          return n.all_gather(gathered.data() + static_cast<std::size_t>(rank) * count, gathered.data(),
                              count, Element::float32, c, stream);
        });
        handle->call("reduce-scatter", [&](nccl::CommHandle c) {
          return n.reduce_scatter(full.data(), own.data(), count, Element::float32, Reduction::average, c,
                                  stream);
        });
        handle->call("all-reduce", [&](nccl::CommHandle c) {
          return n.all_reduce(all.data(), all.data(), count, Element::float32, Reduction::maximum, c, stream);
        });
        stand_in.synchronize(stream);
        for (std::size_t r = 0; r < parts; ++r) {
          for (std::size_t i = 0; i < count; i += 97)
            must(gathered[r * count + i] == static_cast<float>(r * 7 + i % 13), "gathered");
        }
        const float mean_factor = static_cast<float>(ranks + 1) / 2;
        for (std::size_t i = 0; i < count; i += 97) {
          const std::size_t at = static_cast<std::size_t>(rank) * count + i;
          must(own[i] == mean_factor * static_cast<float>(at % 11), "reduced");
          must(all[i] == static_cast<float>(ranks - 1) + static_cast<float>(i % 5), "the largest");
        }
      }
      std::vector<std::int64_t> word(3, rank);
      handle->call("broadcast", [&](nccl::CommHandle c) {
        return n.broadcast(word.data(), word.data(), word.size(), Element::int64, ranks - 1, c, stream);
      });
      stand_in.synchronize(stream);
      must(word[2] == ranks - 1, "the root's");
      handle->close();
    });
  }
  CHECK(std::string(stand_in.violation()) == "");
}

TEST_CASE("sums of sixteen bits are made in float32 and rounded once") {
  const test::StandIn stand_in = test::load_stand_in();
  test::run_members(stand_in, 3, [&](int rank, const auto& handle) {
    // 1 + 2^-9 + 2^-9 in bfloat16: each addend alone would be lost.
    const std::uint16_t bits[3] = {0x3f80, 0x3b00, 0x3b00};
    std::uint16_t value = bits[rank];
    handle->call("all-reduce", [&](nccl::CommHandle c) {
      return stand_in.nccl->all_reduce(&value, &value, 1, Element::bfloat16, Reduction::sum, c,
                                       test::stream_of(rank));
    });
    stand_in.synchronize(test::stream_of(rank));
    must(value == 0x3f80 || value == 0x3f81, "rounded");
    must(value == 0x3f80, "1 + 2^-8 lies between two bfloat16 numbers and goes to the even one");
  });
}

TEST_CASE("messages of two ranks cross in a group, the third is not asked") {
  const test::StandIn stand_in = test::load_stand_in();
  stand_in.forget();
  const NcclLibrary& n = *stand_in.nccl;
  test::run_members(stand_in, 3, [&](int rank, const auto& handle) {
    if (rank == 2) return;
    std::vector<float> sent(50'000, static_cast<float>(rank)), received(50'000, -1);
    handle->call("exchange", [&](nccl::CommHandle c) {
      must(n.group_start());
      must(n.send(sent.data(), sent.size(), Element::float32, 1 - rank, c, test::stream_of(rank)));
      must(n.receive(received.data(), received.size(), Element::float32, 1 - rank, c, test::stream_of(rank)));
      return n.group_end();
    });
    stand_in.synchronize(test::stream_of(rank));
    must(received.front() == static_cast<float>(1 - rank) && received.back() == received.front(), "received");
  });
  CHECK(std::string(stand_in.violation()) == "");
}

// What shardlab did before: communicators that do not block, asked by the watch while the issuing thread is
// in one (NCCL's src/init.cc frees there what the other thread's call has left).
TEST_CASE("two threads in a communicator that does not block are found") {
  const test::StandIn stand_in = test::load_stand_in();
  stand_in.forget();
  const auto members = raw_members(stand_in, 1, 0);
  std::atomic<bool> stop{false};
  std::thread watch([&] {
    Outcome state = Outcome::success;
    while (!stop) (void)stand_in.nccl->get_async_error(members[0], &state);
  });
  float value = 0;
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (std::string(stand_in.violation()).empty() && std::chrono::steady_clock::now() < end)
    (void)stand_in.nccl->all_reduce(&value, &value, 1, Element::float32, Reduction::sum, members[0], nullptr);
  stop = true;
  watch.join();
  stand_in.synchronize(nullptr);
  CHECK_THAT(stand_in.violation(), contains_text("two threads in one communicator"));
}

TEST_CASE("whoever comes after a communicator's end is found") {
  const test::StandIn stand_in = test::load_stand_in();
  const auto members = raw_members(stand_in, 1, 1);
  (void)stand_in.nccl->abort(members[0]);
  stand_in.forget();
  Outcome state = Outcome::success;
  (void)stand_in.nccl->get_async_error(members[0], &state);
  CHECK(std::string(stand_in.violation()) ==
        "ncclCommGetAsyncError touches a communicator after ncclCommAbort");
  stand_in.forget();
  (void)stand_in.nccl->destroy(members[0]);
  CHECK(std::string(stand_in.violation()) == "ncclCommDestroy touches a communicator after ncclCommAbort");
}

TEST_CASE("collectives in another order are found") {
  const test::StandIn stand_in = test::load_stand_in();
  const auto members = raw_members(stand_in, 2, 1);
  stand_in.forget();
  std::vector<float> a(8), b(8);
  (void)stand_in.nccl->all_reduce(a.data(), a.data(), 8, Element::float32, Reduction::sum, members[0],
                                  test::stream_of(0));
  (void)stand_in.nccl->all_gather(b.data(), b.data(), 4, Element::float32, members[1], test::stream_of(1));
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (std::string(stand_in.violation()).empty() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(1ms);
  CHECK_THAT(stand_in.violation(), contains_text("members do not enqueue the same"));
  for (const auto member : members) (void)stand_in.nccl->abort(member);
}

TEST_CASE("a group that is left open or never opened is found") {
  const test::StandIn stand_in = test::load_stand_in();
  stand_in.forget();
  std::thread([&] { must(stand_in.nccl->group_start()); }).join();
  CHECK(std::string(stand_in.violation()) == "a thread ends and leaves a group open");
  stand_in.forget();
  CHECK(stand_in.nccl->group_end() == Outcome::invalid_usage);
  CHECK_THAT(stand_in.violation(), contains_text("without ncclGroupStart"));
  stand_in.forget();
}

}  // namespace shardlab
