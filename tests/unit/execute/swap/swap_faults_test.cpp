// Whatever becomes of a file is noticed when it is read or written, and said; the drive goes on.
#include <sys/stat.h>

#include <fstream>

#include "tests/unit/execute/swap/swap_fixture.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;
using test::bytes_at;
using test::open_swap;
using test::put_bytes;
using test::swap_options;
using test::SwapMemory;

constexpr std::int64_t k_bytes = (1 << 20) + 100;

// A drive with two files of one step; the first is damaged by the tests.
struct Written {
  explicit Written(SwapMechanism mechanism) : drive(open_swap(swap_options(here.path(), mechanism))) {
    for (const char* name : {"hurt", "whole"}) {
      REQUIRE_OK(drive->create(name, {k_bytes}));
      memory.fill(static_cast<unsigned>(name[0]));
      REQUIRE_OK(drive->write(name, 1, memory.span())->wait());
    }
  }
  fs::path file(const char* name = "hurt") const {
    return here.path() / "shardlab-swap-test-run/rank0" / name;
  }
  // What reading the damaged file says, while the other one is read as well.
  Error read_error() {
    SwapMemory other(k_bytes);
    const auto hurt = drive->read("hurt", memory.span());
    const auto whole = drive->read("whole", other.span());
    REQUIRE_OK(whole->wait());
    const Status status = hurt->wait();
    REQUIRE_FALSE(status);
    CHECK(status.error().kind == ErrorKind::run_failed);
    CHECK(status.error().place.file == file().string());
    CHECK(status.error().place.rank == 0);
    CHECK_FALSE(status.error().hint.empty());
    return status.error();
  }

  test::TemporaryFolder here;
  SwapMemory memory{k_bytes};
  std::unique_ptr<SwapDrive> drive;
};

template <typename Test>
void for_each_mechanism(Test test) {
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    INFO(to_string(mechanism));
    Written written(mechanism);
    test(written);
  }
}

TEST_CASE("a file that was removed is gone, for reads and writes") {
  for_each_mechanism([](Written& w) {
    fs::remove(w.file());
    CHECK(w.read_error().what == "is gone");
    CHECK(w.drive->write("hurt", 2, w.memory.span())->wait().error().what == "is gone");
    CHECK_THAT(w.drive->create("hurt", {1}).error().what, test::contains_text("was created already"));
  });
}

TEST_CASE("what takes a file's place is not taken for it") {
  for_each_mechanism([](Written& w) {
    fs::remove(w.file());
    fs::create_directory(w.file());
    CHECK(w.read_error().what == "is no ordinary file any more");
    CHECK(w.drive->write("hurt", 1, w.memory.span())->wait().error().what == "is no ordinary file any more");
  });
  for_each_mechanism([](Written& w) {
    fs::remove(w.file());
    fs::create_symlink(w.file("whole"), w.file());
    CHECK(w.read_error().what == "is a link, and none is followed here");
  });
  for_each_mechanism([](Written& w) {
    fs::remove(w.file());
    REQUIRE(::mkfifo(w.file().c_str(), 0600) == 0);  // opening one would block for ever
    CHECK_FALSE(w.read_error().what.empty());
  });
}

TEST_CASE("a file that this user may not open is said to be so") {
  if (::geteuid() == 0) {
    WARN("not tested: root may open every file");
    return;
  }
  for_each_mechanism([](Written& w) {
    fs::permissions(w.file(), fs::perms::none);
    const Error error = w.read_error();
    CHECK_THAT(error.what, test::contains_text("may not be opened"));
    CHECK(error.code == ErrorCode::unreadable);
  });
}

TEST_CASE("a file of another length is said to be so") {
  for_each_mechanism([](Written& w) {
    fs::resize_file(w.file(), 4096);
    CHECK(w.read_error().what == "holds 4096 bytes of 1056768");
    fs::resize_file(w.file(), 1056768 + 4096);
    CHECK(w.read_error().what == "holds 1060864 bytes, more than the 1056768 that belong there");
    fs::resize_file(w.file(), 0);
    CHECK(w.read_error().what == "holds 0 bytes of 1056768");
  });
}

TEST_CASE("a changed byte is noticed, wherever it is") {
  for (const std::int64_t offset : {4096, 4096 + 700'000, static_cast<int>(4096 + k_bytes - 1)}) {
    for_each_mechanism([&](Written& w) {
      std::string byte = bytes_at(w.file(), offset, 1);
      byte[0] = static_cast<char>(byte[0] ^ 4);
      put_bytes(w.file(), offset, byte);
      const Error error = w.read_error();
      CHECK(error.what == "its checksum differs: the drive or another program changed it");
      CHECK(error.code == ErrorCode::unreadable);
    });
  }
  for_each_mechanism([&](Written& w) {
    put_bytes(w.file(), 20, "?");
    CHECK(w.read_error().what ==
          "has a header whose checksum differs: the drive or another program changed it");
  });
}

TEST_CASE("a write that was interrupted leaves nothing that is taken for data") {
  for_each_mechanism([](Written& w) {
    REQUIRE_OK(w.drive->create("new", {k_bytes}));
    CHECK(w.drive->read("new", w.memory.span())->wait().error().what == "has no data: it was never written");
    // Before the first header, and between two: data of one step under the header of another.
    put_bytes(w.file(), 0, std::string(4096, '\0'));
    CHECK(w.read_error().what == "has no header: it was never written, or not to its end");
    SwapMemory next(k_bytes);
    next.fill(77);
    REQUIRE_OK(w.drive->write("hurt", 2, next.span())->wait());
    const std::string header = bytes_at(w.file(), 0, 4096);
    REQUIRE_OK(w.drive->write("hurt", 3, w.memory.span())->wait());
    put_bytes(w.file(), 0, header);
    CHECK(w.read_error().what == "holds the data of step 2, and those of step 3 were written last");
  });
}

TEST_CASE("a file of another run, rank or name is not taken for one's own") {
  const auto replaced_by = [](const char* run, int rank, const char* name) {
    Written w(SwapMechanism::threads);
    SwapOptions options = swap_options(w.here.path());
    options.run = run;
    options.rank = rank;
    const auto drive = open_swap(options);
    REQUIRE_OK(drive->create(name, {k_bytes}));
    REQUIRE_OK(drive->write(name, 1, w.memory.span())->wait());
    fs::rename(w.here.path() / ("shardlab-swap-" + options.run) / ("rank" + std::to_string(rank)) / name,
               w.file());
    return w.read_error().what;
  };
  CHECK(replaced_by("X", 0, "hurt") == "was written by another run (X)");
  CHECK(replaced_by("test-run", 1, "hurt") == "was written by rank 1, not by rank 0");
  CHECK(replaced_by("test-run", 2, "other") == "was written by rank 2, not by rank 0");
  Written w(SwapMechanism::threads);
  fs::copy_file(w.file("whole"), w.file(), fs::copy_options::overwrite_existing);
  CHECK(w.read_error().what == "was written as another file (whole)");
}

TEST_CASE("a file that another program put there is not overwritten by a new one") {
  Written w(SwapMechanism::threads);
  std::ofstream(w.file("theirs")) << "dear\n";
  CHECK(w.drive->create("theirs", {1}).error().what == "is there already, and this run did not make it");
  fs::create_symlink(w.file("theirs"), w.file("link"));
  CHECK_FALSE(w.drive->create("link", {1}));
  CHECK(bytes_at(w.file("theirs"), 0, 5) == "dear\n");
}

TEST_CASE("a full drive is told when a file is created") {
  const test::MountedFolder small("tmpfs", "size=1m");
  if (!small.is_mounted()) return;
  const auto drive = open_swap(swap_options(small.path()));
  REQUIRE_OK(drive->create("a", {512 * 1024}));
  const Status full = drive->create("b", {3 << 20});
  REQUIRE_FALSE(full);
  CHECK(full.error().kind == ErrorKind::not_possible);
  CHECK_THAT(full.error().what, test::contains_text("no room: 3.00 MiB are needed, 5"));
  CHECK_FALSE(fs::exists(small.path() / "shardlab-swap-test-run/rank0/b"));
  SwapMemory memory(512 * 1024);
  REQUIRE_OK(drive->write("a", 1, memory.span())->wait());
  REQUIRE_OK(drive->read("a", memory.span())->wait());
}

TEST_CASE("a drive that is full when it is written to is told as well") {
  const test::MountedFolder small("tmpfs", "size=1m");
  if (!small.is_mounted()) return;
  for (const SwapMechanism mechanism : test::swap_mechanisms()) {
    const auto drive = open_swap(swap_options(small.path(), mechanism));
    SwapMemory memory(512 * 1024);
    REQUIRE_OK(drive->create("a", {512 * 1024}));
    // A file that lost its room, as where a file system shares it: then another program takes it.
    const fs::path file = small.path() / "shardlab-swap-test-run/rank0/a";
    fs::resize_file(file, 0);
    fs::resize_file(file, 4096 + 512 * 1024);
    std::ofstream(small.path() / "theirs") << std::string(900 * 1024, 'x');
    const Status status = drive->write("a", 1, memory.span())->wait();
    REQUIRE_FALSE(status);
    CHECK_THAT(status.error().what, test::contains_text("no room: 516 KiB are needed, "));
    CHECK(drive->read("a", memory.span())->wait().error().what ==
          "was not written to its end: its last write failed");
    fs::remove(small.path() / "theirs");
    REQUIRE_OK(drive->write("a", 2, memory.span())->wait());
  }
}

}  // namespace
}  // namespace shardlab
