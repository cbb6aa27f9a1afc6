// One communicator and its threads: on functions that a test fills in, and on the library in NCCL's place.
#include "engine/execute/nccl/nccl_handle.h"

#include <atomic>
#include <memory>
#include <vector>

#include "engine/execute/streams/device_failure.h"
#include "engine/execute/watch/failure_watch.h"
#include "tests/nccl_stand_in/stand_in_library.h"

namespace shardlab {
namespace {

using namespace std::chrono_literals;
using nccl::Outcome;
using test::contains_text;

// What the filled-in functions were asked.
struct Asked {
  std::atomic<int> aborts{0}, destroyed{0}, states{0};
  std::atomic<int> blocking{-1};
  std::atomic<bool> connects{true};
  std::atomic<Outcome> answer{Outcome::success};
};
Asked* asked = nullptr;

// They outlive the test: a member that comes late still counts.
Asked& fresh_counts() {
  static std::vector<std::unique_ptr<Asked>> all;
  all.push_back(std::make_unique<Asked>());
  asked = all.back().get();
  return *asked;
}

struct Anything {};
nccl::CommHandle some_communicator() {
  static Anything anything;
  return reinterpret_cast<nccl::CommHandle>(&anything);
}

NcclLibrary filled_in() {
  NcclLibrary nccl;
  nccl.init_rank = [](nccl::CommHandle* made, int, nccl::UniqueId, int, nccl::Config* config) {
    asked->blocking = config->blocking;
    while (!asked->connects) std::this_thread::sleep_for(1ms);
    *made = some_communicator();
    return asked->answer.load();
  };
  nccl.get_async_error = [](nccl::CommHandle, Outcome* state) {
    ++asked->states;
    *state = Outcome::success;
    return Outcome::success;
  };
  nccl.abort = [](nccl::CommHandle) {
    ++asked->aborts;
    return Outcome::success;
  };
  nccl.destroy = [](nccl::CommHandle) {
    ++asked->destroyed;
    return Outcome::success;
  };
  nccl.error_string = [](Outcome) { return "unhandled system error"; };
  nccl.last_error = [](nccl::CommHandle communicator) {
    return communicator == nullptr ? "no socket to 10.0.0.1\nmore" : "asked of a communicator";
  };
  return nccl;
}

std::string message_of(NcclHandle& handle) {
  try {
    handle.call("all-gather", [](nccl::CommHandle) { return Outcome::success; });
  } catch (const DeviceFailure& failure) {
    return failure.what();
  }
  return "no DeviceFailure";
}

TEST_CASE("communicators block, and NCCL's refusal is told in its words") {
  Asked& counts = fresh_counts();
  const NcclLibrary nccl = filled_in();
  const auto good = NcclHandle::connect(nccl, {"shard", 0, 2, {}}, test::hasty(), {});
  REQUIRE_OK(good);
  CHECK(counts.blocking == 1);
  counts.answer = Outcome::system_error;
  const auto bad = NcclHandle::connect(nccl, {"shard", 0, 2, {}}, test::hasty(), {});
  REQUIRE_FALSE(bad);
  CHECK(bad.error().what ==
        "NCCL, group shard: connecting failed: unhandled system error: no socket to 10.0.0.1");
  counts.answer = Outcome::in_progress;
  const auto early = NcclHandle::connect(nccl, {"shard", 0, 2, {}}, test::hasty(), {});
  REQUIRE_FALSE(early);
  CHECK_THAT(early.error().what, contains_text("NCCL_COMM_BLOCKING=0"));
}

TEST_CASE("who waits for members that do not come waits for so long, or until the run has failed") {
  Asked& counts = fresh_counts();
  counts.connects = false;
  const NcclLibrary nccl = filled_in();
  const auto late = NcclHandle::connect(nccl, {"shard", 0, 2, {}}, {120ms, 100ms}, {});
  REQUIRE_FALSE(late);
  CHECK(late.error().what == "NCCL, group shard: not all members came within 0.12 s");
  const auto failed = NcclHandle::connect(nccl, {"shard", 0, 2, {}}, {60s, 100ms},
                                          [] { return std::optional<std::string>("rank 1: no GPU"); });
  REQUIRE_FALSE(failed);
  CHECK(failed.error().what == "rank 1: no GPU");
  counts.connects = true;  // they come after all, and nobody is there who would take them apart
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (counts.aborts < 2 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  CHECK(counts.aborts == 2);
}

TEST_CASE("what cannot choose its device does not connect") {
  Asked& counts = fresh_counts();
  const NcclLibrary nccl = filled_in();
  NcclMember member{"shard", 0, 2, {}};
  member.enter = [] { throw std::runtime_error("cudaSetDevice: no such device"); };
  const auto handle = NcclHandle::connect(nccl, member, test::hasty(), {});
  REQUIRE_FALSE(handle);
  CHECK(handle.error().what == "cudaSetDevice: no such device");
  CHECK(counts.blocking == -1);
}

TEST_CASE("an abort keeps its reason, happens once, and nothing touches the communicator after it") {
  Asked& counts = fresh_counts();
  const NcclLibrary nccl = filled_in();
  {
    NcclHandle handle(nccl, "shard", some_communicator(), 100ms);
    CHECK(handle.broken() == std::nullopt);
    CHECK(counts.states == 1);
    handle.abort("rank 3 has not been heard of for 15.0 s");
    handle.abort("something else");
    CHECK(counts.aborts == 1);
    CHECK(message_of(handle) == "NCCL, group shard: given up: rank 3 has not been heard of for 15.0 s");
    CHECK(handle.broken() == std::nullopt);
    CHECK(counts.states == 1);
    handle.close();
  }
  CHECK(counts.destroyed == 0);
}

TEST_CASE("a communicator is destroyed where a run ended well, and nowhere else") {
  Asked& counts = fresh_counts();
  const NcclLibrary nccl = filled_in();
  { const NcclHandle left(nccl, "shard", some_communicator(), 100ms); }
  CHECK(counts.destroyed == 0);
  NcclHandle closed(nccl, "shard", some_communicator(), 100ms);
  closed.close();
  closed.close();
  CHECK(counts.destroyed == 1);
  closed.abort("too late");
  CHECK(counts.aborts == 0);
}

TEST_CASE("an abort waits for a call to come back, and no longer than it may") {
  Asked& counts = fresh_counts();
  const NcclLibrary nccl = filled_in();
  for (const bool comes_back : {true, false}) {
    counts.aborts = 0;
    NcclHandle handle(nccl, "shard", some_communicator(), comes_back ? 30s : 50ms);
    std::atomic<bool> inside{false}, leave{false};
    std::atomic<int> aborts_seen{0};
    std::string said;
    std::thread issuer([&] {
      try {
        handle.call("all-gather", [&](nccl::CommHandle) {
          inside = true;
          while (!leave) std::this_thread::sleep_for(1ms);
          aborts_seen = counts.aborts.load();
          return Outcome::internal_error;
        });
      } catch (const DeviceFailure& failure) {
        said = failure.what();
      }
    });
    while (!inside) std::this_thread::sleep_for(1ms);
    std::thread watch([&] { handle.abort("rank 1 is lost"); });
    if (comes_back) {
      std::this_thread::sleep_for(30ms);
    } else {
      while (counts.aborts == 0) std::this_thread::sleep_for(1ms);
    }
    leave = true;
    issuer.join();
    watch.join();
    CHECK(aborts_seen == (comes_back ? 0 : 1));
    CHECK(counts.aborts == 1);
    CHECK(said == "NCCL, group shard: given up: rank 1 is lost");
  }
}

TEST_CASE("a collective whose peer never comes ends when the watch gives it up") {
  const test::StandIn stand_in = test::load_stand_in();
  stand_in.forget();
  test::run_members(stand_in, 2, [&](int rank, const auto& handle) {
    FailureWatch watch;
    watch.add({[&] { return handle->broken(); }, [&](const std::string& why) { handle->abort(why); }});
    if (rank == 1) {
      std::this_thread::sleep_for(300ms);  // is there and does nothing, as a rank that hangs
      return;
    }
    std::vector<float> values(100);
    handle->call("all-reduce", [&](nccl::CommHandle communicator) {
      return stand_in.nccl->all_reduce(values.data(), values.data(), values.size(), nccl::Element::float32,
                                       nccl::Reduction::sum, communicator, test::stream_of(rank));
    });
    std::this_thread::sleep_for(50ms);
    if (stand_in.is_done(test::stream_of(rank)) != 0) throw std::runtime_error("nobody was waited for");
    watch.fail("the device did not get on within 0.05 s");
    stand_in.synchronize(test::stream_of(rank));
    if (message_of(*handle) != "NCCL, group test: given up: the device did not get on within 0.05 s")
      throw std::runtime_error(message_of(*handle));
  });
  CHECK(std::string(stand_in.violation()) == "");
}

TEST_CASE("an error that NCCL finds by itself is found by the watch, also while a call does not come back") {
  const test::StandIn stand_in = test::load_stand_in();
  stand_in.forget();
  test::run_members(stand_in, 2, [&](int rank, const auto& handle) {
    FailureWatch watch;
    watch.add({[&] { return handle->broken(); }, [&](const std::string& why) { handle->abort(why); }});
    nccl::CommHandle raw = nullptr;
    handle->call("nothing", [&](nccl::CommHandle communicator) {
      raw = communicator;
      return Outcome::success;
    });
    stand_in.hold(raw);
    std::thread network([&] {
      std::this_thread::sleep_for(50ms);
      stand_in.set_error(raw, static_cast<int>(Outcome::remote_error));
    });
    std::vector<float> values(100);
    std::string said;
    try {
      handle->call("broadcast", [&](nccl::CommHandle communicator) {
        return stand_in.nccl->broadcast(values.data(), values.data(), values.size(), nccl::Element::float32,
                                        0, communicator, test::stream_of(rank));
      });
    } catch (const DeviceFailure& failure) {
      said = failure.what();
    }
    network.join();
    if (said.find("remote process exited") == std::string::npos) throw std::runtime_error(said);
  });
  CHECK(std::string(stand_in.violation()) == "");
}

}  // namespace
}  // namespace shardlab
