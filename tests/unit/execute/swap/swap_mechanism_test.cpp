// Where the kernel or the file system refuses something, the next best is taken, and the drive says so.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <csignal>
#include <cstddef>
#include <fstream>

#include "tests/unit/execute/swap/swap_fixture.h"

namespace shardlab {
namespace {

using test::open_swap;
using test::swap_options;
using test::SwapMemory;

constexpr std::int64_t k_bytes = 100'001;

bool comes_back(SwapDrive& drive) {
  SwapMemory written(k_bytes), read(k_bytes);
  written.fill(5);
  return drive.create("a", {k_bytes}) && drive.write("a", 1, written.span())->wait() &&
         drive.read("a", read.span())->wait() && read.equals(written);
}

// From here on io_uring_setup fails in this process with that errno.
bool forbid_io_uring(unsigned number) {
  std::array<sock_filter, 4> filter = {{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                                        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_io_uring_setup},
                                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | number},
                                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// What a process says in which something is different.
template <typename Say>
std::string said_by_child(Say say) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t process = ::fork();
  if (process == 0) {
    const std::string text = say();
    static_cast<void>(!::write(ends[1], text.data(), text.size()));
    ::_exit(0);
  }
  ::close(ends[1]);
  std::array<char, 1000> text{};
  const ssize_t count = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  CHECK(status == 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

TEST_CASE("without io_uring threads move the blocks, and the drive says why") {
  const test::TemporaryFolder here;
  const auto without = [&](unsigned number, std::optional<SwapMechanism> mechanism) {
    return said_by_child([&]() -> std::string {
      if (!forbid_io_uring(number)) return "no seccomp here";
      const auto drive = SwapDrive::open(swap_options(here.path(), mechanism));
      if (!drive) return to_string(drive.error());
      return (comes_back(**drive) ? "" : "lost: ") + (*drive)->description();
    });
  };
  const std::string forbidden = without(EPERM, std::nullopt);
  if (forbidden == "no seccomp here") {
    WARN("not tested: " << forbidden);
    return;
  }
  if (open_uring_engine(1)) {
    CHECK_THAT(forbidden, test::contains_text("1 thread (io_uring: it is forbidden here), "));
    CHECK_THAT(without(ENOSYS, std::nullopt),
               test::contains_text("1 thread (io_uring: the kernel has none), "));
    CHECK_THAT(without(ENOMEM, std::nullopt),
               test::contains_text("1 thread (io_uring: no memory may be locked"));
    CHECK_THAT(without(EPERM, SwapMechanism::io_uring),
               test::contains_text("io_uring: it is forbidden here (allow it"));
  } else {
    CHECK_THAT(forbidden, test::contains_text("1 thread (io_uring: "));
  }
  CHECK(std::filesystem::is_empty(here.path()));
}

TEST_CASE("mechanisms are named in the drive's description") {
  const test::TemporaryFolder here;
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    SwapOptions options = swap_options(here.path(), mechanism);
    options.threads = 2;
    const std::string expected = mechanism == SwapMechanism::threads ? "2 threads, " : "io_uring, ";
    CHECK(open_swap(options)->description().starts_with(expected));
  }
  CHECK(parse_word<SwapMechanism>("io_uring") == SwapMechanism::io_uring);
  CHECK(to_string(SwapMechanism::threads) == "threads");
}

TEST_CASE("a file system without O_DIRECT is used through the page cache") {
  const test::MountedFolder without("ramfs", nullptr);
  if (!without.is_mounted()) return;
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    const auto drive = open_swap(swap_options(without.path(), mechanism));
    CHECK_THAT(drive->description(),
               test::contains_text(", through the page cache (O_DIRECT is refused by ramfs)"));
    // A file system without fallocate has its room taken by writing.
    CHECK(comes_back(*drive));
    SwapMemory odd(70'000, 3), read(70'000, 5);
    odd.fill(8);
    REQUIRE_OK(drive->create("odd", {70'000}));
    REQUIRE_OK(drive->write("odd", 1, odd.span())->wait());
    REQUIRE_OK(drive->read("odd", read.span())->wait());
    CHECK(read.equals(odd));
    CHECK(read.is_clear_around());
  }
}

TEST_CASE("a file beyond the limit of the process is an error and no signal") {
  const test::TemporaryFolder here;
  const std::string said = said_by_child([&]() -> std::string {
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto drive = SwapDrive::open(swap_options(here.path()));
    if (!drive) return to_string(drive.error());
    const Status made = (*drive)->create("a", {200'000});
    return made ? "made" : made.error().what;
  });
  CHECK(said == "would be larger than this process or the file system allows");
}

TEST_CASE("a process without descriptors or memory to lock has its transfers fail or done, never hung") {
  const test::TemporaryFolder here;
  const std::string said = said_by_child([&]() -> std::string {
    const auto drive = SwapDrive::open(swap_options(here.path()));
    SwapMemory memory(5000);
    if (!drive || !(*drive)->create("a", {5000})) return "not made";
    const rlimit limit{3, 3};
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const Status status = (*drive)->write("a", 1, memory.span())->wait();
    return status ? "written" : status.error().what;
  });
  CHECK(said == "cannot be opened: too many files are open");
}

}  // namespace
}  // namespace shardlab
