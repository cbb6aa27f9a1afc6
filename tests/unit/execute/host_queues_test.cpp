#include "engine/execute/streams/host_queues.h"

#include <stdexcept>

#include "tests/catch.h"

namespace shardlab {
namespace {

// Work whose times are given, and which notes that it was waited for.
class Work : public Pending {
 public:
  Work(std::int64_t began, std::int64_t completed, int* waits, bool fails = false)
      : began_{began}, completed_{completed}, waits_(waits), fails_(fails) {}
  void wait() override {
    ++*waits_;
    if (fails_) throw std::runtime_error("lost a peer");
  }
  Nanoseconds began_at() const override { return began_; }
  Nanoseconds completed_at() const override { return completed_; }

 private:
  const Nanoseconds began_, completed_;
  int* waits_;
  const bool fails_;
};

// Far behind now on the clock of marks: as work that took long.
constexpr std::int64_t k_later = std::int64_t{1} << 60;

struct Span {
  EventHandle start, end;
};

Span adopt(HostQueues& device, QueueIndex queue, std::unique_ptr<Pending> work) {
  device.use(queue);
  Span span;
  span.start = device.record(queue);
  device.adopt(std::move(work));
  span.end = device.record(queue);
  return span;
}

TEST_CASE("marks around work in a queue have its times") {
  HostQueues device;
  const QueueIndex host = device.queue("compute");
  const QueueIndex group = device.queue("shard");
  CHECK(host != group);
  CHECK(device.queue("shard") == group);
  int waits = 0;
  const Span first = adopt(device, group, std::make_unique<Work>(k_later, k_later + 5, &waits));
  const Span second = adopt(device, group, std::make_unique<Work>(k_later + 7, k_later + 20, &waits));
  device.drain();
  CHECK(waits == 2);
  CHECK(device.between(first.start, first.end) == Nanoseconds{5});
  CHECK(device.between(first.end, second.start) == Nanoseconds{2});
  CHECK(device.between(second.start, second.end) == Nanoseconds{13});
}

// What a drive reads may end in another order than it began.
TEST_CASE("a mark behind several works waits for all of them") {
  HostQueues device;
  const QueueIndex host = device.queue("compute");
  const QueueIndex drive = device.queue("drive_read");
  int first_waits = 0, second_waits = 0, later_waits = 0;
  adopt(device, drive, std::make_unique<Work>(1, 9, &first_waits));
  const Span second = adopt(device, drive, std::make_unique<Work>(2, 4, &second_waits));
  adopt(device, drive, std::make_unique<Work>(3, 5, &later_waits));
  device.wait(host, second.end);
  CHECK(first_waits == 1);
  CHECK(second_waits == 1);
  CHECK(later_waits == 0);
}

TEST_CASE("only what waits for work blocks, until the work is done") {
  HostQueues device;
  const QueueIndex host = device.queue("compute");
  const QueueIndex group = device.queue("shard");
  int first_waits = 0;
  int second_waits = 0;
  const EventHandle before = device.record(host);
  const Span first = adopt(device, group, std::make_unique<Work>(1, 2, &first_waits));
  const Span second = adopt(device, group, std::make_unique<Work>(3, 4, &second_waits));
  device.wait(host, before);
  device.wait(host, first.start);
  CHECK(first_waits == 0);
  device.wait(host, first.end);
  CHECK(first_waits == 1);
  CHECK(second_waits == 0);
  device.block(second.end);
  CHECK(second_waits == 1);
  device.drain();
  device.drain();
  CHECK(second_waits == 2);
}

TEST_CASE("in the place of a GPU the host waits for work when it is issued") {
  HostQueues device(Queueing::by_stream);
  const QueueIndex stream = device.queue("all_gather");
  int waits = 0;
  const Span span = adopt(device, stream, std::make_unique<Work>(k_later, k_later + 5, &waits));
  CHECK(waits == 1);
  CHECK(device.between(span.start, span.end) == Nanoseconds{5});
}

TEST_CASE("the work whose end threw is known") {
  HostQueues device;
  const QueueIndex group = device.queue("shard");
  int waits = 0;
  const Span good = adopt(device, group, std::make_unique<Work>(1, 2, &waits));
  const Span bad = adopt(device, group, std::make_unique<Work>(3, 4, &waits, true));
  const Span running = adopt(device, group, std::make_unique<Work>(5, 6, &waits));
  CHECK_FALSE(device.failed_between(bad.start, bad.end));
  CHECK_THROWS_WITH(device.drain(), "lost a peer");
  CHECK_FALSE(device.failed_between(good.start, good.end));
  CHECK(device.failed_between(bad.start, bad.end));
  CHECK_FALSE(device.failed_between(running.start, running.end));
}

}  // namespace
}  // namespace shardlab
