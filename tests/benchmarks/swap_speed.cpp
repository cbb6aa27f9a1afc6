// How fast memory is swapped to a drive, beside plain O_DIRECT requests of the same size and number: files of
// 256 MiB in blocks of 1 MiB, eight at once, by io_uring and by threads, checksums included.
//
// Prints medians of alternating rounds. The target is 0.9 of the plain rate. The folder is the first
// argument, else a temporary one; what lies on a virtual disk says little of a drive.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/execute/machine.h"
#include "engine/execute/swap/swap_drive.h"
#include "tests/benchmarks/required.h"
#include "tests/paths.h"

namespace shardlab::test {
namespace {

constexpr std::int64_t k_bytes = 256 << 20, k_block = 1 << 20, k_page = 4096;
constexpr int k_depth = 8, k_rounds = 7;
constexpr double k_target = 0.9;

enum class Way : std::uint8_t { write, read };

double rate_since(Nanoseconds began) {
  return static_cast<double>(k_bytes) / static_cast<double>((monotonic_now() - began).value) * 1e9;
}

// Bytes per second of requests that threads make, each its own blocks.
double plain_rate(int file, std::span<std::byte> memory, Way way) {
  const Nanoseconds began = monotonic_now();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < k_depth; ++thread) {
    threads.emplace_back([=] {
      for (std::int64_t at = thread * k_block; at < k_bytes; at += k_depth * k_block) {
        std::byte* const block = memory.data() + at;
        const ssize_t moved = way == Way::write ? ::pwrite(file, block, k_block, k_page + at)
                                                : ::pread(file, block, k_block, k_page + at);
        if (moved != k_block) std::abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return rate_since(began);
}

double swap_rate(SwapDrive& drive, std::span<std::byte> memory, Way way) {
  const Nanoseconds began = monotonic_now();
  required((way == Way::write ? drive.write("memory", 1, memory) : drive.read("memory", memory))->wait());
  return rate_since(began);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(const std::string& folder, SwapMechanism mechanism, int file, std::span<std::byte> memory) {
  SwapOptions options;
  options.path = folder;
  options.run = "benchmark";
  options.threads = k_depth;
  options.mechanism = mechanism;
  auto opened = SwapDrive::open(options);
  if (!opened) return fmt::print("{}: {}\n", to_string(mechanism), to_string(opened.error()));
  SwapDrive& drive = **opened;
  required(drive.register_memory(memory));
  required(drive.create("memory", {k_bytes}));
  plain_rate(file, memory, Way::write);
  swap_rate(drive, memory, Way::write);
  for (const Way way : {Way::write, Way::read}) {
    std::vector<double> plain, swapped;
    for (int round = 0; round < k_rounds; ++round) {
      plain.push_back(plain_rate(file, memory, way));
      swapped.push_back(swap_rate(drive, memory, way));
    }
    const double ratio = median(swapped) / median(plain);
    fmt::print("{:<5} {:>6.2f} GB/s, plain {:>6.2f} GB/s: {:.3f} of it ({} {})  {}\n",
               way == Way::write ? "write" : "read", median(swapped) / 1e9, median(plain) / 1e9, ratio,
               ratio >= k_target ? "target met:" : "BELOW the target of", k_target, drive.description());
  }
}

int run(const std::string& folder) {
  const auto free_memory = [](std::byte* memory) { std::free(memory); };
  const std::unique_ptr<std::byte, decltype(free_memory)> owned(
      static_cast<std::byte*>(std::aligned_alloc(k_page, k_bytes)), free_memory);
  const std::span<std::byte> memory(owned.get(), static_cast<std::size_t>(k_bytes));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 2654435761U >> 13U);
  const std::string path = folder + "/plain";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
  if (file < 0 || ::posix_fallocate(file, 0, k_page + k_bytes) != 0) {
    fmt::print("skipped: {} takes no O_DIRECT file of {} MiB\n", folder, k_bytes >> 20);
    return 77;
  }
  for (const SwapMechanism mechanism : {SwapMechanism::io_uring, SwapMechanism::threads})
    compare(folder, mechanism, file, memory);
  ::close(file);
  ::unlink(path.c_str());
  return 0;
}

}  // namespace
}  // namespace shardlab::test

int main(int argc, char** argv) {
  const shardlab::test::TemporaryFolder folder;
  return shardlab::test::run(argc > 1 ? argv[1] : folder.path().string());
}
