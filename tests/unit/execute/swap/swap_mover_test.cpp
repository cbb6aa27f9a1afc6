// Whatever an engine answers, every transfer ends: with drives that fail, that move less than they were asked
// to, that put off, and that finish in another order.
#include "engine/execute/swap/swap_mover.h"

#include <functional>
#include <random>

#include "engine/execute/swap/direct_io.h"
#include "tests/unit/execute/swap/swap_fixture.h"

namespace shardlab {
namespace {

using test::SwapMemory;

// Moves blocks at once, as the test says: the answer to a request, or nothing to move it.
class ScriptedEngine final : public SwapEngine {
 public:
  using Script = std::function<std::optional<std::int64_t>(SwapRequest&)>;
  explicit ScriptedEngine(Script script) : script_(std::move(script)) {}

  void start(const SwapRequest& request) noexcept override { waiting_.push_back(request); }
  std::span<const SwapCompletion> completed(bool wait) noexcept override {
    done_.clear();
    if (wait && !waiting_.empty()) {
      // Any of those under way may be the first to be done.
      const std::size_t chosen = random_() % waiting_.size();
      SwapRequest request = waiting_[chosen];
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(chosen));
      const int slot = request.slot;
      const auto answer = script_(request);
      done_.push_back({slot, answer ? *answer : move(request)});
    }
    return done_;
  }
  std::optional<std::string> register_memory(std::span<std::byte>) override { return std::nullopt; }
  std::string name() const override { return "scripted"; }

  static std::int64_t move(const SwapRequest& request) {
    const auto bytes = static_cast<std::size_t>(request.bytes);
    const ssize_t moved = request.is_write
                              ? ::pwrite(request.descriptor, request.memory, bytes, request.offset)
                              : ::pread(request.descriptor, request.memory, bytes, request.offset);
    return moved < 0 ? -errno : moved;
  }

 private:
  Script script_;
  std::minstd_rand random_{1};
  std::vector<SwapRequest> waiting_;
  std::vector<SwapCompletion> done_;
};

constexpr std::int64_t k_bytes = 10 * 4096 + 100;

// Files below a temporary folder, moved past a SwapDrive.
struct Bench {
  explicit Bench(ScriptedEngine::Script script, bool is_direct = false)
      : folder(::open(here.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        place(std::make_shared<SwapPlace>(
            SwapPlace{folder.get(), here.path().string(), "run", 2, 8192, is_direct})),
        mover(
            std::make_unique<SwapMover>(std::make_unique<ScriptedEngine>(std::move(script)), 3, is_direct)) {}

  std::shared_ptr<SwapFile> make(const std::string& name) const {
    const OwnedDescriptor made(::openat(folder.get(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(::ftruncate(made.get(), 4096 + whole_pages(k_bytes)) == 0);
    return std::make_shared<SwapFile>(SwapFile{name, k_bytes, {}, false});
  }
  std::shared_ptr<MovingFile> begin(const std::shared_ptr<SwapFile>& file, bool is_write,
                                    SwapMemory& memory) {
    auto moving = std::make_shared<MovingFile>(place, file, FileOrder{is_write, 4, memory.span()});
    mover->begin(moving);
    return moving;
  }

  test::TemporaryFolder here;
  OwnedDescriptor folder;
  std::shared_ptr<const SwapPlace> place;
  std::unique_ptr<SwapMover> mover;
};

void check_round_trip(Bench& bench) {
  std::vector<std::shared_ptr<MovingFile>> moves;
  std::vector<std::unique_ptr<SwapMemory>> written, read;
  for (int i = 0; i < 6; ++i) {
    written.push_back(std::make_unique<SwapMemory>(k_bytes, i));
    read.push_back(std::make_unique<SwapMemory>(k_bytes, i));
    written.back()->fill(static_cast<unsigned>(i));
    const auto file = bench.make(std::to_string(i));
    moves.push_back(bench.begin(file, true, *written.back()));
    moves.push_back(bench.begin(file, false, *read.back()));
  }
  for (const auto& move : moves) REQUIRE_OK(move->wait());
  for (std::size_t i = 0; i < read.size(); ++i) CHECK(read[i]->equals(*written[i]));
}

TEST_CASE("blocks that are done in any order are one file") {
  Bench bench([](SwapRequest&) { return std::nullopt; });
  check_round_trip(bench);
}

TEST_CASE("what was moved in part or put off is gone on with") {
  int count = 0;
  const auto script = [&count](SwapRequest& request) -> std::optional<std::int64_t> {
    switch (++count % 4) {
      case 0: return -EINTR;
      case 1: return -EAGAIN;
      case 2: request.bytes = std::max<std::int64_t>(1, request.bytes / 2 - 33);
    }
    return std::nullopt;
  };
  {
    Bench buffered(script);
    check_round_trip(buffered);
  }
  // With O_DIRECT it is gone on with at whole pages, so that a part of one is moved again.
  Bench direct(
      [](SwapRequest& request) -> std::optional<std::int64_t> {
        if (request.bytes <= 4096) return std::nullopt;
        const std::int64_t moved = ScriptedEngine::move(request);
        return moved < 0 ? moved : moved * 3 / 4;
      },
      true);
  const auto access = try_direct_access(direct.folder.get(), "", 0);
  REQUIRE_OK(access);
  if (access->is_possible) check_round_trip(direct);
}

TEST_CASE("a drive that answers with an error fails its transfers and hangs nobody") {
  for (const int number : {EIO, ENOSPC, EACCES, ENODEV, EDQUOT, EROFS, EFAULT, EBADF}) {
    Bench bench([&](SwapRequest&) -> std::optional<std::int64_t> { return -number; });
    SwapMemory memory(k_bytes);
    std::vector<std::shared_ptr<MovingFile>> moves;
    for (int i = 0; i < 20; ++i) moves.push_back(bench.begin(bench.make(std::to_string(i)), true, memory));
    for (const auto& move : moves) {
      const Status status = move->wait();
      REQUIRE_FALSE(status);
      CHECK(status.error().place.rank == 2);
      CHECK_FALSE(status.error().hint.empty());
      if (number == EIO) {
        CHECK(status.error().what == "cannot be written: the drive reports an error (Input/output error)");
        CHECK(status.error().code == ErrorCode::unreadable);
      }
      if (number == ENOSPC)
        CHECK_THAT(status.error().what, test::contains_text("no room: 48.0 KiB are needed"));
    }
  }
}

TEST_CASE("one transfer that fails leaves the others alone") {
  SwapMemory memory(k_bytes), other(k_bytes);
  const std::byte* const first = other.span().data();
  Bench bench([first](SwapRequest& request) -> std::optional<std::int64_t> {
    if (request.memory > first && request.memory < first + k_bytes) return -EIO;
    return std::nullopt;
  });
  memory.fill(1);
  const auto bad = bench.make("bad"), good = bench.make("good");
  REQUIRE_OK(bench.begin(bad, true, memory)->wait());
  REQUIRE_OK(bench.begin(good, true, memory)->wait());
  const auto failing = bench.begin(bad, false, other);
  const auto going = bench.begin(good, false, memory);
  REQUIRE_OK(going->wait());
  CHECK(failing->wait().error().what == "cannot be read: the drive reports an error (Input/output error)");
}

TEST_CASE("a drive that takes or gives nothing more is told, as is one that puts off for ever") {
  SwapMemory memory(k_bytes);
  {
    Bench bench([](SwapRequest&) -> std::optional<std::int64_t> { return 0; });
    CHECK(bench.begin(bench.make("a"), true, memory)
              ->wait()
              .error()
              .what.ends_with(" bytes of 49152, and then no more"));
  }
  {
    bool is_reading = false;
    Bench bench([&](SwapRequest& request) -> std::optional<std::int64_t> {
      is_reading = is_reading || !request.is_write;
      if (is_reading && request.offset >= 4096 + 8192) return 0;
      return std::nullopt;
    });
    const auto file = bench.make("a");
    REQUIRE_OK(bench.begin(file, true, memory)->wait());
    CHECK_THAT(bench.begin(file, false, memory)->wait().error().what, test::contains_text("bytes of 49152"));
  }
  Bench bench([](SwapRequest&) -> std::optional<std::int64_t> { return -EINTR; });
  CHECK_FALSE(bench.begin(bench.make("a"), true, memory)->wait());
}

TEST_CASE("a mover ends when its drive fails, with transfers that nobody waits for") {
  SwapMemory memory(k_bytes);
  Bench bench([](SwapRequest&) -> std::optional<std::int64_t> { return -EIO; });
  std::vector<std::shared_ptr<MovingFile>> moves;
  for (int i = 0; i < 50; ++i) moves.push_back(bench.begin(bench.make(std::to_string(i)), true, memory));
  bench.mover.reset();
  for (const auto& move : moves) CHECK_FALSE(move->wait());
}

}  // namespace
}  // namespace shardlab
