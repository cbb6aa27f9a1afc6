// What is written is read, whatever its size, however its memory lies and in whatever order it is waited for.
#include "engine/execute/swap/swap_drive.h"

#include <atomic>
#include <thread>

#include "tests/unit/execute/swap/swap_fixture.h"

namespace shardlab {
namespace {

using test::open_swap;
using test::swap_options;
using test::SwapMemory;

TEST_CASE("bytes of every size come back, and nothing beside them is touched") {
  const test::TemporaryFolder here;
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    SwapOptions options = swap_options(here.path(), mechanism);
    options.block = {64 * 1024};
    options.threads = 2;
    const auto drive = open_swap(options);
    int count = 0;
    for (const std::int64_t bytes : {0, 1, 4095, 4096, 4097, 65536, 65537, (3 << 20) + 17}) {
      for (const std::int64_t shift : {0, 1, 512}) {
        INFO(to_string(mechanism) << " " << bytes << " " << shift);
        const std::string name = "f" + std::to_string(count++);
        REQUIRE_OK(drive->create(name, {bytes}));
        SwapMemory written(bytes, shift), read(bytes, shift);
        written.fill(static_cast<unsigned>(count));
        const auto writing = drive->write(name, 1, written.span());
        REQUIRE_OK(writing->wait());
        const auto reading = drive->read(name, read.span());
        REQUIRE_OK(reading->wait());
        REQUIRE(read.equals(written));
        REQUIRE(read.is_clear_around());
        REQUIRE(reading->began_at() <= reading->completed_at());
        REQUIRE(writing->completed_at() <= reading->began_at());
        REQUIRE(static_cast<std::int64_t>(std::filesystem::file_size(
                    here.path() / "shardlab-swap-test-run/rank0" / name)) == 4096 + whole_pages(bytes));
      }
    }
  }
  CHECK(std::filesystem::is_empty(here.path()));
}

TEST_CASE("transfers are waited for in any order, by any thread") {
  constexpr int k_files = 24;
  const test::TemporaryFolder here;
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    SwapOptions options = swap_options(here.path(), mechanism);
    options.block = {16 * 1024};
    options.queue_depth = 4;
    options.threads = 3;
    const auto drive = open_swap(options);
    std::vector<std::unique_ptr<SwapMemory>> written, read;
    std::vector<std::unique_ptr<SwapTransfer>> transfers;
    for (int i = 0; i < k_files; ++i) {
      const std::int64_t bytes = 1000 + i * 7001;
      REQUIRE_OK(drive->create(std::to_string(i), {bytes}));
      written.push_back(std::make_unique<SwapMemory>(bytes));
      read.push_back(std::make_unique<SwapMemory>(bytes));
      written.back()->fill(static_cast<unsigned>(i));
    }
    // Reads follow writes of the same files without anybody waiting in between.
    for (int i = 0; i < k_files; ++i)
      transfers.push_back(drive->write(std::to_string(i), 5, written[static_cast<std::size_t>(i)]->span()));
    for (int i = k_files; i-- > 0;)
      transfers.push_back(drive->read(std::to_string(i), read[static_cast<std::size_t>(i)]->span()));
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = transfers.size(); i-- > 0;)
          if (!transfers[i]->wait()) ++failures;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(failures == 0);
    for (std::size_t i = 0; i < written.size(); ++i) CHECK(read[i]->equals(*written[i]));
  }
}

TEST_CASE("several threads use one drive at once") {
  const test::TemporaryFolder here;
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    SwapOptions options = swap_options(here.path(), mechanism);
    options.block = {8192};
    options.threads = 2;
    const auto drive = open_swap(options);
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const std::string name = "t" + std::to_string(t);
        SwapMemory written(50'000, t), read(50'000, 3);
        if (!drive->create(name, {50'000})) ++failures;
        for (int step = 0; step < 20; ++step) {
          written.fill(static_cast<unsigned>(step * 4 + t));
          if (!drive->write(name, step, written.span())->wait()) ++failures;
          if (!drive->read(name, read.span())->wait() || !read.equals(written)) ++failures;
          if (drive->description().empty()) ++failures;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(failures == 0);
  }
}

TEST_CASE("the last of several steps is read") {
  const test::TemporaryFolder here;
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    const auto drive = open_swap(swap_options(here.path(), mechanism));
    REQUIRE_OK(drive->create("m", {10'000}));
    SwapMemory memory(10'000), read(10'000);
    std::vector<std::unique_ptr<SwapMemory>> steps;
    std::vector<std::unique_ptr<SwapTransfer>> writes;
    for (unsigned step = 0; step < 6; ++step) {
      steps.push_back(std::make_unique<SwapMemory>(10'000));
      steps.back()->fill(step);
      writes.push_back(drive->write("m", step, steps.back()->span()));
    }
    REQUIRE_OK(drive->read("m", read.span())->wait());
    CHECK(read.equals(*steps.back()));
  }
}

TEST_CASE("a thousand small transfers are done") {
  const test::TemporaryFolder here;
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    const auto drive = open_swap(swap_options(here.path(), mechanism));
    constexpr std::size_t k_files = 100, k_bytes = 300;
    SwapMemory pool(k_files * k_bytes), copy(k_files * k_bytes);
    pool.fill(9);
    for (std::size_t i = 0; i < k_files; ++i) REQUIRE_OK(drive->create(std::to_string(i), {k_bytes}));
    std::vector<std::unique_ptr<SwapTransfer>> transfers;
    for (std::size_t i = 0; i < 1000; ++i) {
      const std::size_t at = i % k_files;
      const std::string name = std::to_string(at);
      if (i / k_files % 2 == 0) {
        transfers.push_back(
            drive->write(name, static_cast<std::int64_t>(i), pool.span().subspan(at * k_bytes, k_bytes)));
      } else {
        transfers.push_back(drive->read(name, copy.span().subspan(at * k_bytes, k_bytes)));
      }
    }
    for (const auto& transfer : transfers) REQUIRE_OK(transfer->wait());
    CHECK(copy.equals(pool));
  }
}

TEST_CASE("a registered pool works like other memory") {
  const test::TemporaryFolder here;
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    SwapMemory pool(4 << 20), other(1 << 20, 1), late(1 << 20);
    const auto drive = open_swap(swap_options(here.path(), mechanism));
    const std::string plain = drive->description();
    REQUIRE_OK(drive->register_memory({}));
    CHECK(drive->description() == plain);
    REQUIRE_OK(drive->register_memory(other.span()));
    CHECK_THAT(drive->description(), test::contains_text("not registered (they do not begin at a page)"));
    REQUIRE_OK(drive->register_memory(pool.span()));
    REQUIRE_OK(drive->register_memory(pool.span().first(1 << 20)));  // again
    if (mechanism == SwapMechanism::threads) {
      CHECK_THAT(drive->description(), test::contains_text("threads use memory as it is"));
    } else if (drive->description() != plain + ", registered buffers") {
      WARN("not tested: " << drive->description());
    }
    REQUIRE_OK(drive->create("a", {2 << 20}));
    REQUIRE_OK(drive->create("b", {(1 << 20) + 5}));
    pool.fill(1);
    late.fill(2);
    const auto front = pool.span().first(2 << 20), back = pool.span().last(2 << 20);
    const auto writing = drive->write("a", 1, front);
    REQUIRE_OK(drive->register_memory(late.span()));  // while blocks are under way
    REQUIRE_OK(writing->wait());
    REQUIRE_OK(drive->read("a", back)->wait());
    CHECK(std::memcmp(front.data(), back.data(), front.size()) == 0);
    const auto odd = pool.span().subspan(4096, (1 << 20) + 5), target = back.first(odd.size());
    REQUIRE_OK(drive->write("b", 1, odd)->wait());
    REQUIRE_OK(drive->read("b", target)->wait());
    CHECK(std::memcmp(odd.data(), target.data(), odd.size()) == 0);
  }
}

TEST_CASE("a transfer that nobody waited for is over when it or its drive is gone") {
  const test::TemporaryFolder here;
  SwapMemory memory(1 << 20);
  memory.fill(3);
  std::unique_ptr<SwapTransfer> left;
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    const auto drive = open_swap(swap_options(here.path(), mechanism));
    REQUIRE_OK(drive->create("a", {1 << 20}));
    REQUIRE_OK(drive->create("b", {1 << 20}));
    drive->write("a", 1, memory.span());
    left = drive->write("b", 1, memory.span());
  }
  REQUIRE_OK(left->wait());
  REQUIRE_OK(left->wait());
}

TEST_CASE("options and names that cannot be are refused") {
  const test::TemporaryFolder here;
  const auto refusal = [&](auto&& change) {
    SwapOptions options = swap_options(here.path());
    change(options);
    const auto drive = SwapDrive::open(options);
    REQUIRE_FALSE(drive);
    CHECK(drive.error().kind == ErrorKind::bad_input);
    return to_string(drive.error());
  };
  CHECK_THAT(refusal([](SwapOptions& o) { o.path += "/none"; }), test::contains_text("no such folder"));
  CHECK_THAT(refusal([](SwapOptions& o) { o.path = "/dev/null"; }), test::contains_text("is no folder"));
  CHECK_THAT(refusal([](SwapOptions& o) { o.path = ""; }), test::contains_text("is empty"));
  CHECK_THAT(refusal([](SwapOptions& o) { o.run = "a/b"; }), test::contains_text("letters, digits"));
  CHECK_THAT(refusal([](SwapOptions& o) { o.rank = -1; }), test::contains_text("negative"));
  CHECK_THAT(refusal([](SwapOptions& o) { o.block = {1000}; }), test::contains_text("whole pages"));
  CHECK_THAT(refusal([](SwapOptions& o) { o.queue_depth = 0; }), test::contains_text("between 1 and"));
  CHECK_THAT(refusal([](SwapOptions& o) { o.threads = 1000; }), test::contains_text("between 1 and"));
  CHECK(std::filesystem::is_empty(here.path()));

  const auto drive = open_swap(swap_options(here.path()));
  for (const char* name : {"", "..", "../x", ".lock", "a b"})
    CHECK(drive->create(name, {1}).error().kind == ErrorKind::bad_input);
  CHECK(drive->create("a", {-1}).error().kind == ErrorKind::bad_input);
  REQUIRE_OK(drive->create("a", {8}));
  CHECK(drive->create("a", {8}).error().what == "was created already");
  SwapMemory memory(9);
  CHECK(drive->write("a", 1, memory.span())->wait().error().what ==
        "was created for 8 bytes, and 9 are moved");
  CHECK(drive->read("b", memory.span())->wait().error().what == "is moved, and was not created");
}

}  // namespace
}  // namespace shardlab
