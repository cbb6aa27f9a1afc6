#include <cmath>

#include "engine/hardware/device.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

// The formula of links.h.
double seconds(const CollectiveCoefficients& c, double bytes, double factor) {
  return c.latency_seconds + bytes * factor / c.bandwidth.value + c.seconds_per_sqrt_byte * std::sqrt(bytes);
}

Device of(ClusterRequest request) {
  const auto device = describe_device(request);
  REQUIRE_OK(device);
  return *device;
}

ClusterRequest node(const char* name, int nodes) {
  ClusterRequest request;
  request.node = name;
  request.nodes = nodes;
  return request;
}

TEST_CASE("device: eight H100 of a named node") {
  const Device h100 = of(node("hgx-h100", 1));
  CHECK(h100.kind == DeviceKind::gpu);
  CHECK(h100.ranks == 8);
  CHECK_FALSE(h100.calibrated);
  CHECK(h100.peak(DType::bfloat16)->value == 989.4e12);
  CHECK(h100.gemm.bfloat16->value == Approx(989.4e12 * 0.78 * 0.9));
  CHECK(h100.attention.bfloat16->value == Approx(330e12));
  CHECK(h100.attention.float32->value == Approx(330e12 * 67 / 989.4));
  CHECK(h100.memory.value == 85'018'877'624);
  CHECK(h100.dollars_per_hour == Approx(7.145));
  CHECK_FALSE(h100.estimates.empty());
  // all_gather runs as a ring, all_reduce through the switch: published for 8 H200 361 and 482 GB/s.
  const Links links = h100.intra_node();
  CHECK(links.all_gather.bandwidth.value == 361.4e9);
  CHECK(links.all_reduce.bandwidth.value == 507.3e9);
  CHECK(links.all_gather.latency_seconds == Approx(0.6 * 28.7e-6));
  CHECK_FALSE(links.estimated);
}

TEST_CASE("device: several nodes agree with published all_reduce figures at 64 MiB") {
  // arXiv 2411.13055: bus bandwidth 217, 190, 162, 152, 137, 122 GB/s on 4, 8, 16, 32, 64, 128 nodes of 8
  // H100.
  const double bytes = 64 << 20;
  const double published[] = {217e9, 190e9, 162e9, 152e9, 137e9, 122e9};
  for (int i = 0; i < 6; ++i) {
    const int nodes = 4 << i;
    const Device device = of(node("dgx-h100", nodes));
    const double factor = 2.0 * (device.ranks - 1) / device.ranks;
    const double predicted = seconds(device.inter_node().all_reduce, bytes, factor);
    INFO(nodes << " nodes");
    CHECK(predicted == Approx(bytes * factor / published[i]).epsilon(0.06));
  }
}

TEST_CASE("device: the slower of ring and network carries a gather over several nodes") {
  CHECK(of(node("dgx-h100", 2)).inter_node().all_gather.bandwidth.value ==
        361.4e9);  // the ring; 8 x 50 GB/s x 0.94 is more
  CHECK(of(node("aws-p4d.24xlarge", 4)).inter_node().all_gather.bandwidth.value ==
        Approx(29.5e9));  // 50 GB/s x 0.59; 29.6 measured
  const Device device = of(node("dgx-h100", 8));
  CHECK(device.inter_node().all_gather.latency_seconds > device.intra_node().all_gather.latency_seconds);
  CHECK(device.links_of(8, 8).all_gather.bandwidth.value ==
        Approx(47e9));  // one rank a node: its own network card
  CHECK(of(node("gb200-nvl72-tray", 18)).inter_node().all_gather.bandwidth.value ==
        682e9);  // one NVLink switch for all
}

TEST_CASE("device: a described cluster") {
  ClusterRequest request;
  request.gpu = "A100";
  request.gpus_per_node = 4;
  request.nodes = 2;
  request.network_gbps_per_gpu = 100;
  request.memory_limit = gibibytes(40);
  const Device device = of(request);
  CHECK(device.ranks == 8);
  CHECK(device.memory == gibibytes(40));
  CHECK(device.wires.network_per_rank.value == 12.5e9);
  request.pcie_only = true;
  CHECK(of(request).intra_node().all_gather.bandwidth.value == 24e9);
}

TEST_CASE("device: CPU ranks share the loopback") {
  ClusterRequest request;
  request.cpu_ranks = 2;
  request.threads_per_rank = 3;
  const Device cpu = of(request);
  CHECK(cpu.kind == DeviceKind::cpu);
  CHECK(cpu.ranks == 2);
  CHECK_FALSE(cpu.peak(DType::float32).has_value());
  CHECK(cpu.gemm.float32->value == 120e9);
  CHECK(cpu.links_of(2, 1) == cpu.inter_node());
  CHECK(cpu.intra_node().all_reduce.bandwidth.value == 1.5e9);
}

TEST_CASE("device: what cannot be described") {
  CHECK(describe_device(node("hgx-h10", 1)).error().hint == "did you mean 'hgx-h100'?");
  CHECK(describe_device(node("pcie-workstation-4x-rtx4090", 2)).error().what ==
        "pcie-workstation-4x-rtx4090 has no network between nodes");
  ClusterRequest too_many = node("dgx-h100", 1);
  too_many.gpus_per_node = 9;
  CHECK(describe_device(too_many).error().what == "dgx-h100 has 8 GPUs, not 9");
  CHECK_FALSE(describe_device(ClusterRequest{}).has_value());
}

}  // namespace
}  // namespace shardlab
