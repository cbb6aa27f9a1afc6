#include "engine/execute/gpu_places.h"

#include <thread>
#include <vector>

#include "engine/execute/gpu_process_memory.h"
#include "tests/catch.h"
#include "tests/unit/execute/watch/values_in_memory.h"

namespace shardlab {
namespace {

using namespace std::chrono_literals;

RankEnvironment rank_of(int rank, int world, int local) {
  RankEnvironment environment;
  environment.rank = rank;
  environment.world = world;
  environment.local_rank = local;
  return environment;
}

std::optional<std::string> no_failure() {
  return std::nullopt;
}

// The error of each rank, in threads; empty where there is none.
std::vector<std::string> check_all(const std::vector<std::string>& gpus) {
  test::ValuesInMemory values;
  std::vector<std::string> errors(gpus.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    threads.emplace_back([&, i] {
      const Status good = check_each_has_its_own(
          values, rank_of(static_cast<int>(i), static_cast<int>(gpus.size()), 0), gpus[i], 20s, no_failure);
      if (!good) errors[i] = good.error().what;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

}  // namespace

TEST_CASE("a rank's GPU is that of its local rank; where a launcher shows one alone, that one") {
  const auto chosen = [](int local, VisibleGpus visible) {
    return choose_gpu(rank_of(5, 8, local), visible);
  };
  CHECK(chosen(3, {4, ""}) == 3);
  CHECK(chosen(3, {1, "6"}) == 0);
  CHECK(chosen(5, {4, "", true}) == 1);
  const auto too_few = chosen(4, {2, "0,1"});
  REQUIRE_FALSE(too_few);
  CHECK(too_few.error().kind == ErrorKind::bad_input);
  CHECK(too_few.error().what == "LOCAL_RANK is 4, but only 2 GPUs are visible (CUDA_VISIBLE_DEVICES=0,1)");
}

TEST_CASE("two ranks with one GPU are named to all, before anything connects") {
  CHECK(check_all({"a GPU-1", "a GPU-2", "b GPU-1"}) == std::vector<std::string>(3));
  const std::vector<std::string> errors = check_all({"a GPU-1", "a GPU-2", "a GPU-1"});
  for (const std::string& error : errors) CHECK(error == "rank 0 and rank 2 have the same GPU, a GPU-1");
}

TEST_CASE("a rank that never says what its GPU is does not hold the others up when the run has failed") {
  test::ValuesInMemory values;
  const Status failed = check_each_has_its_own(values, rank_of(0, 2, 0), "a GPU-1", 60s, [] {
    return std::optional<std::string>("rank 1: no driver");
  });
  REQUIRE_FALSE(failed);
  CHECK(failed.error().what == "rank 1: no driver");
}

namespace {

// Twenty processes, of which number 119 holds 3 GiB.
ManagementLibrary made_up_library() {
  ManagementLibrary library;
  library.device_by_uuid = [](const char* uuid, void** device) {
    *device = nullptr;
    return std::string(uuid) == "GPU-1" ? 0 : 6;
  };
  library.processes = [](void*, unsigned int* count, ManagementLibrary::Process* processes) {
    constexpr unsigned int k_all = 20;
    const bool room = *count >= k_all;
    *count = k_all;
    if (!room) return 7;
    for (unsigned int i = 0; i < k_all; ++i) processes[i] = {100 + i, (i == 19 ? 3ULL : 1ULL) << 30U, 0, 0};
    return 0;
  };
  return library;
}

}  // namespace

TEST_CASE("a process's share of a GPU is what the driver's library says, if it lists the process") {
  const ManagementLibrary library = made_up_library();
  CHECK(process_memory(library, "GPU-1", 119) == Bytes{std::int64_t{3} << 30});
  CHECK(process_memory(library, "GPU-1", 7) == std::nullopt);
  CHECK(process_memory(library, "GPU-9", 119) == std::nullopt);
}

}  // namespace shardlab
