// Times of collectives against arithmetic done by hand, and in comparison with each other.
#include <cmath>

#include "simulator/network/transfer_time.h"
#include "tests/catch.h"
#include "tests/unit/network/clusters.h"

namespace shardlab {
namespace {

TransferTime time_of(const Device& device, const GroupShape& shape, CollectiveKind kind, std::int64_t bytes) {
  return GroupNetwork(device, shape).time(kind, {bytes});
}

TEST_CASE("a ring in a node: launch, latency, transfer, filling") {
  const Device h100 = test::cluster("dgx-h100", 1);
  const TransferTime time = time_of(h100, {8, 1, 8}, CollectiveKind::all_gather, 1 << 30);
  const CollectiveFigures& figures = h100.network.collectives;
  CHECK(to_string(time.choice->algorithm) == "ring");
  CHECK(to_string(time.choice->protocol) == "simple");
  CHECK(time.launch_us == Approx(figures.launch_us[2]));
  CHECK(time.latency_us == Approx(8.4 + 7 * 3.4));
  // 8/7 of the ring's 361.4 GB/s, times the efficiency.
  CHECK(time.bandwidth == Approx(361.4 * 8 / 7 * figures.ring_efficiency));
  CHECK(time.fill_us == Approx(figures.ring_fill_us * std::sqrt((1 << 30) / (361.4e3 * 8 / 7))));
  CHECK(time.channels == 24);
  CHECK(time.link_bytes == Approx((1 << 30) * 7.0 / 8));
  CHECK(time.network_bytes == 0);
}

TEST_CASE("an all-reduce sends everything twice") {
  const Device a100 = test::cluster("dgx-a100", 1);
  const TransferTime gather = time_of(a100, {8, 1, 8}, CollectiveKind::all_gather, 1 << 30);
  const TransferTime reduce = time_of(a100, {8, 1, 8}, CollectiveKind::all_reduce, 1 << 30);
  CHECK(reduce.transfer_us == Approx(2 * gather.transfer_us));
  CHECK(reduce.fill_us == Approx(2 * gather.fill_us));
  CHECK(reduce.link_bytes == Approx(2 * gather.link_bytes));
}

TEST_CASE("kinds that move different bytes take different times") {
  const Device h100 = test::cluster("dgx-h100", 2);
  const GroupShape shape = shape_of_all(h100);
  const auto us = [&](CollectiveKind kind) { return time_of(h100, shape, kind, 1 << 28).total_us(); };
  CHECK(us(CollectiveKind::broadcast) < us(CollectiveKind::all_reduce));
  CHECK(us(CollectiveKind::reduce) == Approx(us(CollectiveKind::broadcast)));
  // Half of what a rank sends to the others leaves the node, over its own adapter: 128 MiB at 47 GB/s.
  const TransferTime exchange = time_of(h100, shape, CollectiveKind::all_to_all, 1 << 28);
  CHECK(exchange.network_bytes == Approx(1 << 27));
  CHECK(exchange.transfer_us == Approx((1 << 27) / 47e3));
  CHECK_FALSE(exchange.choice.has_value());
}

TEST_CASE("the slower of rails and ring carries a gather over several nodes") {
  const auto bus = [](const Device& device, const GroupShape& shape) {
    return time_of(device, shape, CollectiveKind::all_gather, 1 << 30).bandwidth *
           bus_factor(CollectiveKind::all_gather, shape.ranks);
  };
  const Device h100 = test::cluster("dgx-h100", 2);
  CHECK(bus(h100, {16, 2, 8}) == Approx(361.4));  // 8 x 50 x 0.94 is more
  CHECK(bus(h100, {4, 2, 2}) == Approx(94));
  CHECK(bus(h100, {4, 2, 1}) == Approx(47));  // three and one: a single rail into the second node
  CHECK(bus(test::cluster("aws-p4d.24xlarge", 4), {32, 4, 8}) == Approx(29.5));  // 50 x 0.59; 29.6 measured
}

TEST_CASE("less latency for fewer ranks, more for more nodes") {
  const Device h100 = test::cluster("dgx-h100", 8);
  const auto us = [&](GroupShape shape) {
    return time_of(h100, shape, CollectiveKind::all_gather, 1 << 16).total_us();
  };
  CHECK(us({2, 1, 2}) < us({8, 1, 8}));
  CHECK(us({8, 1, 8}) < us({16, 2, 8}));
  CHECK(us({16, 2, 8}) < us({64, 8, 8}));
}

TEST_CASE("small messages take few channels") {
  const Device h100 = test::cluster("dgx-h100", 1);
  CHECK(time_of(h100, {8, 1, 8}, CollectiveKind::all_gather, 4).channels == 1);
  CHECK(time_of(h100, {8, 1, 8}, CollectiveKind::all_reduce, 1 << 28).channels == 16);  // NVLS
}

TEST_CASE("no message is faster than the bound, and a group of one takes nothing") {
  for (const char* node : {"dgx-h100", "dgx-a100", "aws-p5.48xlarge", "gb200-nvl72-tray"}) {
    for (const int nodes : {1, 2, 4}) {
      const Device device = test::cluster(node, nodes);
      const GroupNetwork network(device, shape_of_all(device));
      for (const auto& kind : k_words<CollectiveKind>) {
        for (std::int64_t bytes = 64; bytes <= std::int64_t{1} << 36; bytes *= 16) {
          INFO(node << ' ' << nodes << ' ' << kind.text << ' ' << bytes);
          CHECK(network.time(kind.value, {bytes}).total_us() * 1000 >=
                network.least_ns_per_byte(kind.value) * static_cast<double>(bytes));
        }
      }
    }
  }
  const Device h100 = test::cluster("dgx-h100", 1);
  CHECK(time_of(h100, {1, 1, 1}, CollectiveKind::all_reduce, 1 << 20).total_us() == 0);
}

}  // namespace
}  // namespace shardlab
