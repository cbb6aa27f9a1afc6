#include "tests/catch.h"

#include "simulator/memory/caching_allocator/caching_allocator.h"

namespace shardlab {
namespace {

CachingAllocator allocator(Bytes memory, std::string_view options = "") {
  return CachingAllocator(*parse_allocator_options(options), {memory, memory});
}

}  // namespace

TEST_CASE("an allocation is freed once, and only its own") {
  CachingAllocator a = allocator(gibibytes(1));
  const AllocationId first = *a.malloc(mebibytes(4));
  const DeviceAddress place = a.address_of(first);
  CHECK(a.free(first));
  CHECK(!a.free(first));
  CHECK(!a.record_stream(first, {1}));
  const AllocationId second = *a.malloc(mebibytes(4));
  CHECK(a.address_of(second).value == place.value);
  CHECK(!a.free(first));
  CHECK(!a.free({}));
  CHECK(!a.free({.slot = 1000, .number = 1}));
  CHECK(a.statistics().allocation.all.current == 1);
}

TEST_CASE("nothing, less than nothing and more than any device has are no allocations") {
  CachingAllocator a = allocator(gibibytes(1));
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 60, INT64_MAX})
    CHECK(!a.malloc({size}));
  CHECK(a.statistics() == AllocatorStatistics{});
}

TEST_CASE("out of memory says what was wanted and what is there, and the allocator goes on") {
  CachingAllocator a = allocator(mebibytes(64));
  const AllocationId held = *a.malloc(mebibytes(40));
  const auto failed = a.malloc(mebibytes(40));
  REQUIRE(!failed);
  CHECK(failed.error().kind == ErrorKind::not_possible);
  CHECK(failed.error().what ==
        "out of memory: 40.0 MiB wanted, 40.0 MiB of 64.0 MiB reserved, 40.0 MiB of them allocated");
  CHECK(a.statistics().num_ooms == 1);
  CHECK(a.statistics().num_alloc_retries == 1);
  CHECK(a.free(held));
  CHECK(a.malloc(mebibytes(40)));
  CHECK(a.statistics().num_device_alloc == 1);
}

TEST_CASE("a block that another stream uses is not given again before the event of its free is done") {
  CachingAllocator a = allocator(gibibytes(1));
  const AllocatorStream other{3};
  const AllocationId first = *a.malloc(mebibytes(64));
  CHECK(a.record_stream(first, {0}));  // its own stream: nothing to wait for
  CHECK(a.record_stream(first, other));
  const DeviceAddress place = a.address_of(first);
  CHECK(a.free(first));
  CHECK(a.events_recorded(other) == 1);
  CHECK(a.events_recorded({0}) == 0);
  CHECK(a.statistics().allocated_bytes.all.current == 0);
  CHECK(a.statistics().active_bytes.all.current == mebibytes(64).value);
  const AllocationId second = *a.malloc(mebibytes(64));
  CHECK(a.address_of(second).value != place.value);
  a.complete_events(other, 1);
  CHECK(a.statistics().active_bytes.all.current == mebibytes(128).value);  // seen by the next malloc
  const AllocationId third = *a.malloc(mebibytes(64));
  CHECK(a.address_of(third).value == place.value);
  CHECK(a.statistics().reserved_bytes.all.current == mebibytes(128).value);
}

TEST_CASE("events that are not recorded yet cannot be done") {
  CachingAllocator a = allocator(gibibytes(1));
  const AllocatorStream other{3};
  a.complete_events(other, 100);
  const AllocationId first = *a.malloc(mebibytes(64));
  CHECK(a.record_stream(first, other));
  a.complete_events(other, 100);
  CHECK(a.free(first));
  (void)*a.malloc(mebibytes(64));
  CHECK(a.statistics().reserved_bytes.all.current == mebibytes(128).value);
}

TEST_CASE("an expandable segment grows where it ends, and gives back whole pages") {
  CachingAllocator a = allocator(gibibytes(1), "expandable_segments:True");
  const AllocationId first = *a.malloc(mebibytes(30));
  const AllocationId second = *a.malloc(mebibytes(30));
  CHECK(a.statistics().reserved_bytes.all.current == mebibytes(60).value);
  CHECK(a.free(first));
  a.empty_cache();  // one page of 20 MiB lies wholly in the first block
  CHECK(a.statistics().reserved_bytes.all.current == mebibytes(40).value);
  const std::vector<SegmentSnapshot> segments = a.snapshot();
  REQUIRE(segments.size() == 1);
  CHECK(segments[0].blocks.size() == 2);
  CHECK(segments[0].blocks[0].size == mebibytes(10));
  CHECK(a.free(second));
  a.empty_cache();
  CHECK(a.snapshot().empty());
}

// A prediction follows a run without a limit first, and a single request can be larger than the device.
TEST_CASE("without a limit an expandable segment holds a request larger than the device") {
  CachingAllocator a(*parse_allocator_options("expandable_segments:True"), {gibibytes(1), gibibytes(64)});
  const AllocationId first = *a.malloc(mebibytes(30));
  const AllocationId large = *a.malloc(gibibytes(3));
  CHECK(a.statistics().allocated_bytes.all.current == (gibibytes(3) + mebibytes(30)).value);
  CHECK(a.free(first));
  CHECK(a.free(large));
}

}  // namespace shardlab
