// Loading NCCL and noticing failures: what of the CUDA side needs neither a driver nor a GPU.
#include "engine/execute/torch/cuda/nccl_library.h"

#include <atomic>
#include <thread>

#include "engine/execute/torch/cuda/failure_watch.h"
#include "engine/execute/torch/device_runtime.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {

using namespace std::chrono_literals;

TEST_CASE("NCCL of the wheel is found without a driver") {
  const auto nccl = load_nccl();
  REQUIRE_OK(nccl);
  CHECK((*nccl)->version >= 21400);
  CHECK((*nccl)->all_gather != nullptr);
  REQUIRE(load_nccl());
  CHECK(*load_nccl() == *nccl);  // once
}

TEST_CASE("a library that is not NCCL is refused by what it lacks") {
  const auto missing = load_nccl("/nowhere/libnccl.so.2");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == ErrorKind::not_possible);
  CHECK_THAT(missing.error().hint, test::contains_text("SHARDLAB_NCCL_LIBRARY"));
  const auto other = load_nccl("libm.so.6");
  REQUIRE_FALSE(other);
  CHECK_THAT(other.error().what, test::contains_text("ncclGetVersion"));
}

TEST_CASE("versions are written as people write them") {
  CHECK(nccl_version_text(22809) == "2.28.9");
  CHECK(nccl_version_text(23007) == "2.30.7");
}

TEST_CASE("the watch aborts what was given to it on the first failure and says so from then on") {
  FailureWatch watch;
  std::atomic<bool> broken{false};
  std::atomic<int> aborted{0};
  watch.add({[&]() -> std::optional<std::string> {
               return broken ? std::optional<std::string>("rank 3 is lost") : std::nullopt;
             },
             [&] { ++aborted; }});
  std::this_thread::sleep_for(250ms);
  CHECK_NOTHROW(watch.check());
  broken = true;
  const auto end = std::chrono::steady_clock::now() + 5s;
  while (aborted == 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
  CHECK(aborted == 1);
  CHECK_THROWS_WITH(watch.check(), test::contains_text("rank 3 is lost"));
  watch.fail("something else");
  CHECK_THROWS_WITH(watch.check(), test::contains_text("rank 3 is lost"));
}

TEST_CASE("a machine without a GPU says so") {
  DeviceRequest request;
  request.environment.local_rank = 0;
  const auto runtime = make_device_runtime(request);
  if (runtime) return;  // there is one
  CHECK(runtime.error().kind == ErrorKind::not_possible);
  CHECK_THAT(runtime.error().what, test::contains_text("GPU"));
}

}  // namespace shardlab
