#include "engine/hardware/device.h"
#include "engine/hardware/node.h"
#include "engine/hardware/usual_network.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

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
  CHECK(h100.attention.bfloat16->value == Approx(333.6e12));
  CHECK(h100.attention.float32->value == Approx(333.6e12 * 67 / 989.4));
  CHECK(h100.memory.value == 85'018'877'624);
  CHECK(h100.dollars_per_hour == Approx(7.145));
  CHECK_FALSE(h100.estimates.empty());
  CHECK(h100.wires.ring.value == 361.4e9);
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
  CHECK(of(request).wires.ring.value == 24e9);
}

TEST_CASE("device: nodes of a GPU alone have the network of the node that its vendor builds") {
  ClusterRequest request;
  request.gpu = "h100";
  request.gpus_per_node = 8;
  request.nodes = 4;
  const Device device = describe_device(request).value();
  request = {};
  request.node = "dgx-h100";
  request.nodes = 4;
  const Device usual = describe_device(request).value();
  CHECK(device.wires.network_per_rank == usual.wires.network_per_rank);
  CHECK(device.wires.network_efficiency == usual.wires.network_efficiency);
  CHECK_THAT(device.source, test::contains_text("nodes/dgx-h100.yaml"));
  for (const std::string& gpu : gpu_names())
    if (const auto node = usual_node(gpu)) CHECK(find_node(*node).value().network.value > 0);
  CHECK_FALSE(usual_node("T4"));
}

TEST_CASE("device: what is supposed multiplies its figures, and the wires as described come back") {
  const Device plain = of(node("hgx-h100", 2));
  ClusterRequest request = node("hgx-h100", 2);
  request.supposed = {1.25, 2, 4};
  const Device supposed = of(request);
  CHECK(supposed.memory.value == 106'273'597'030);  // 85,018,877,624 x 1.25
  CHECK(supposed.wires.network_per_rank.value == 2 * plain.wires.network_per_rank.value);
  CHECK(supposed.wires.ring.value == 4 * plain.wires.ring.value);
  CHECK(supposed.network.nccl.graphs[index_of(NcclGeneration::hopper)].bandwidth ==
        4 * plain.network.nccl.graphs[index_of(NcclGeneration::hopper)].bandwidth);
  CHECK(has_supposed_wires(supposed));
  CHECK_FALSE(has_supposed_wires(plain));
  const Device described = with_described_wires(supposed);
  CHECK_FALSE(has_supposed_wires(described));
  CHECK(described.wires.network_per_rank == plain.wires.network_per_rank);
  CHECK(described.wires.ring == plain.wires.ring);
  CHECK(described.memory == supposed.memory);
  request.memory_limit = gibibytes(90);  // what a rank may use is said in bytes, not supposed
  CHECK(of(request).memory == gibibytes(90));
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
  REQUIRE(cpu.wires.shared.has_value());
  CHECK(cpu.wires.shared->all_reduce.bandwidth.value == 1.5e9);
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
