// Every cost term against arithmetic done by hand.
#include "engine/hardware/device.h"
#include "simulator/cost/attention_cost.h"
#include "simulator/cost/collective_cost.h"
#include "simulator/cost/contention.h"
#include "simulator/cost/host_issue.h"
#include "simulator/cost/host_link.h"
#include "simulator/cost/host_update.h"
#include "simulator/cost/matmul.h"
#include "simulator/cost/memory_bound.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

MatmulCoefficients matmul_coefficients() {
  MatmulCoefficients c;
  c.rate = {100e9};
  c.k_half = 64;
  c.bandwidth = {10e9};
  c.overhead_ns = 2000;
  return c;
}

TEST_CASE("a matrix product is bound by arithmetic or by memory") {
  const MatmulCoefficients c = matmul_coefficients();
  // 2 * 100 * 200 * 64 = 2.56 MFLOP; / 100 GFLOP/s = 25.6 us; (64 + 64)/64 doubles it: 51.2 us; + 2 us.
  // 4 * (6400 + 12800 + 20000) = 156.8 kB / 10 GB/s = 15.68 us: less.
  CHECK(matmul_ns({100, 200, 64, {156'800}}, c) == Approx(53'200));
  // 2 * 1000 * 1000 * 1 = 2 MFLOP = 20 us; (1 + 64)/1: 1300 us. 4 * (1000 + 1000 + 1000000) = 4.008 MB =
  // 400.8 us: less.
  CHECK(matmul_ns({1000, 1000, 1, {4'008'000}}, c) == Approx(1'302'000));
  // One row: 2 * 1000 * 1000 = 2 MFLOP = 20 us * 1.064 = 21.28 us; 4 * (1000 + 1000000 + 1000) B = 400.8 us:
  // memory decides.
  CHECK(matmul_ns({1, 1000, 1000, {4'008'000}}, c) == Approx(402'800));
}

TEST_CASE("a measured shape replaces the formula there") {
  MatmulCoefficients c = matmul_coefficients();
  const MatmulShape shape{100, 200, 64, {156'800}};
  c.measured.add(coordinates_of(shape), 1.5);
  CHECK(matmul_ns(shape, c) == Approx(53'200 * 1.5));
  CHECK(matmul_formula_ns(shape, c) == Approx(53'200));
}

TEST_CASE("attention slows down over short sequences") {
  AttentionCoefficients c;
  c.rate = {50e9};
  c.sequence_half = 100;
  c.overhead_ns = 1000;
  // 100 MFLOP / 50 GFLOP/s = 2 ms; (300 + 100)/300 = 4/3.
  CHECK(attention_ns({{100'000'000}, 300, 64, 8}, c) == Approx(1000 + 2e6 * 4 / 3));
}

TEST_CASE("traffic costs its bytes and its pieces") {
  const TrafficCoefficients c{{4e9}, 500, {}};
  // 8 MB / 4 GB/s = 2 ms; 12 pieces of 0.5 us.
  CHECK(traffic_ns({{8'000'000}, 12}, c) == Approx(2'000'000 + 6'000));
}

TEST_CASE("collectives: latency, bus factor, root") {
  CHECK(bus_factor(InstructionKind::AllGather, 4) == Approx(0.75));
  CHECK(bus_factor(InstructionKind::ReduceScatter, 8) == Approx(0.875));
  CHECK(bus_factor(InstructionKind::AllReduce, 4) == Approx(1.5));
  CHECK(bus_factor(InstructionKind::Broadcast, 4) == Approx(1));
  const CollectiveTerms terms{30'000, {10e9}, 20, {}};
  // 1 MB * 0.75 / 10 GB/s = 75 us; sqrt(1e6) * 20 ns = 20 us; + 30 us.
  CHECK(collective_ns({InstructionKind::AllGather, {1'000'000}, 4}, terms) == Approx(125'000));
  // Twice the factor for an all-reduce: 150 us.
  CHECK(collective_ns({InstructionKind::AllReduce, {1'000'000}, 4}, terms) == Approx(200'000));
  CHECK(collective_ns({InstructionKind::AllGather, {1'000'000}, 1}, terms) == 0);
}

TEST_CASE("the host pays per instruction and, on a GPU, per kernel") {
  using K = InstructionKind;
  const HostCoefficients gpu{10'000, 15'000, 4'000, 2'000, 4'000};
  // 10 us + 30 * 4 us; the device may start after the first launch.
  CHECK(host_time(K::Forward, 30, gpu).total_ns == Approx(130'000));
  CHECK(host_time(K::Forward, 30, gpu).first_kernel_ns == Approx(14'000));
  // Autograd's thread issues: 10 us + 30 * 2 us.
  CHECK(host_time(K::Backward, 30, gpu).total_ns == Approx(70'000));
  CHECK(host_time(K::AllGather, 1, gpu).total_ns == Approx(19'000));
  const HostCoefficients cpu{3'000, 5'000, 0, 0, 0};
  CHECK(host_time(K::Forward, 30, cpu).total_ns == Approx(3'000));
  CHECK(host_time(K::AllReduce, 30, cpu).first_kernel_ns == Approx(5'000));
}

TEST_CASE("a Python program takes the host longer, but not in backward") {
  Device gpu;
  gpu.kind = DeviceKind::gpu;
  gpu.kernel_launch_seconds = 5e-6;
  gpu.instruction_seconds = 10e-6;
  gpu.fitted.emplace();
  gpu.fitted->at(FittedFigure::python_operator).value = 12e-6;
  gpu.fitted->at(FittedFigure::python_hook).value = 150e-6;
  const HostCoefficients python = published_host(gpu, HostProgram::python);
  CHECK(python.launch_ns == Approx(12'000));
  CHECK(python.backward_launch_ns == Approx(5'000));
  CHECK(python.collective_ns == Approx(150'000));
  CHECK(host_time(InstructionKind::Pack, 10, python).total_ns == Approx(12'000 + 10 * 12'000));
  // DDP's reducer is no hook in Python, and copies gradients where autograd's thread is.
  const HostCoefficients ddp = published_host(gpu, HostProgram::python, true);
  CHECK(ddp.launch_ns == Approx(12'000));
  CHECK(ddp.collective_ns == Approx(10'000));
  CHECK(host_time(InstructionKind::Pack, 10, ddp).total_ns == Approx(12'000 + 10 * 5'000));
  const HostCoefficients ours = published_host(gpu, HostProgram::shardlab);
  CHECK(ours.launch_ns == Approx(5'000));
  CHECK(ours.collective_ns == Approx(10'000));
}

TEST_CASE("tiles and waves") {
  MatmulCoefficients c = matmul_coefficients();
  c.waves = {10, {128, 256, 128, 0.8, 0.5}};
  // 4 x 4 tiles of 128 x 256 on 10 multiprocessors are 1.6 waves, so 2: 20 tiles for 16, half of which
  // counts: 1.125. 256 x 128: 2 x 8 tiles, the same. Tiles of 128 x 128: 32 of them in 40, 1.125 / 0.8.
  CHECK(wave_factor({512, 1024, 64, {}}, c.waves) == Approx(1.125));
  // 100 x 100: one small tile in a wave of 10; 0.5 + 0.5 * 10 * 128^2 / 100^2 = 8.692, / 0.8. A large one is
  // twice as large: 0.5 + 0.5 * 10 * 128 * 256 / 100^2 = 16.884.
  CHECK(wave_factor({100, 100, 64, {}}, c.waves) == Approx(8.692 / 0.8));
  CHECK(wave_factor({100, 100, 64, {}}, {}) == 1);
}

TEST_CASE("narrow heads are slower") {
  AttentionCoefficients c;
  c.rate = {50e9};
  c.narrow = 0.9;
  // 100 MFLOP / 50 GFLOP/s = 2 ms; heads of 32 are two halvings below 128.
  CHECK(attention_ns({{100'000'000}, 300, 32, 8}, c) == Approx(2e6 / 0.81));
  CHECK(attention_ns({{100'000'000}, 300, 256, 8}, c) == Approx(2e6));
}

TEST_CASE("published contention makes a fully overlapped step last max + penalty * min") {
  Device cpu;
  cpu.kind = DeviceKind::cpu;
  cpu.overlap_penalty = 1;
  // Both at half speed: 10 and 4 together take 8 for the shorter, in which 4 of the 10 are done: 8 + 6 = 14 =
  // 10 + 1 * 4.
  CHECK(published_contention(cpu).compute_beside_collective == Approx(0.5));
  CHECK(published_contention(cpu).collective_beside_compute == Approx(0.5));
}

// 25 GB/s in, 20 GB/s out; a rank's part of the memory is 40 GB/s; 5 us a copy.
HostLinkCoefficients host_link() {
  return {{25e9}, {20e9}, {40e9}, {5e9}, 5'000, false};
}

TEST_CASE("copies to and from host memory take the link of their direction") {
  const SpacePair in{MemorySpace::pinned_host, MemorySpace::device};
  const SpacePair out{MemorySpace::device, MemorySpace::pinned_host};
  // 2 * 5.00 us + 47.7 MiB / 25 GB/s.
  CHECK(host_link_ns({in, {50'000'000}, 2}, host_link()) == Approx(2'010'000));
  // 5 us + 50 MB / 20 GB/s.
  CHECK(host_link_ns({out, {50'000'000}}, host_link()) == Approx(2'505'000));
  // Staged at 5 GB/s.
  CHECK(host_link_ns({{MemorySpace::pageable_host, MemorySpace::device}, {50'000'000}}, host_link()) ==
        Approx(10'005'000));
  // A link that is wider than a rank's part of the memory: 16 GB/s.
  HostLinkCoefficients narrow = host_link();
  narrow.memory = {16e9};
  CHECK(host_link_ns({in, {16'000'000}}, narrow) == Approx(1'005'000));
  CHECK_THAT(explain_host_link({in, {50'000'000}, 2}, host_link()).formula,
             test::contains_text("2 * 5.00 us + 47.7 MiB / 25 GB/s"));
}

TEST_CASE("copies of both directions share the link where it is one") {
  const HostCopy in{{MemorySpace::pinned_host, MemorySpace::device}, {1}};
  CHECK(shares_of_copy(in, host_link()).of(SharedResource::link_from_host) == Approx(1));
  CHECK(shares_of_copy(in, host_link()).of(SharedResource::link_to_host) == 0);
  HostLinkCoefficients shared = host_link();
  shared.shared = true;
  CHECK(shares_of_copy(in, shared).of(SharedResource::link_to_host) == Approx(1));
  // Staging leaves the link to others: 5 of 25 GB/s.
  const HostCopy staged{{MemorySpace::pageable_host, MemorySpace::device}, {1}};
  CHECK(shares_of_copy(staged, host_link()).of(SharedResource::link_from_host) == Approx(0.2));
}

// Seconds of a step on GH200 for 1 to 8e9 parameters, published by DeepSpeed (blogs/deepspeed-superoffload):
// torch's, several kernels of 80 bytes a parameter, and DeepSpeedCPUAdam's, one of 30.
TEST_CASE("an optimizer in host memory is as fast as its memory, as published for GH200") {
  ClusterRequest request;
  request.gpu = "GH200";
  request.gpus_per_node = 1;
  const auto device = describe_device(request);
  REQUIRE_OK(device);
  const HostWorkCoefficients host = published_host_work(*device);
  const double torch[] = {0.289, 0.531, 0.958, 1.834}, deepspeed[] = {0.098, 0.198, 0.393, 0.769};
  for (int i = 0; i < 4; ++i) {
    const std::int64_t parameters = 1'000'000'000LL << i;
    INFO(parameters);
    CHECK(host_work_ns({parameters * 80}, false, host) / 1e9 == Approx(torch[i]).epsilon(0.16));
    CHECK(host_work_ns({parameters * 30}, true, host) / 1e9 == Approx(deepspeed[i]).epsilon(0.03));
  }
  // Few cores are slower than the memory: 28 bytes at 4 * 12 GB/s.
  CHECK(host_work_ns({28'000'000'000}, true, {4, {12e9}, {10.4e9}, {300e9}}) == Approx(28e9 / 48));
}

TEST_CASE("terms explain themselves with their numbers") {
  const CostBreakdown product = explain_matmul({100, 200, 64, {156'800}}, matmul_coefficients());
  CHECK(product.nanoseconds == Approx(53'200));
  CHECK_THAT(product.formula, test::contains_text("2.56 MFLOP / 100 GFLOP/s * (64 + 64)/64"));
  const CostBreakdown bytes = explain_traffic("copy", {{8'000'000}, 12}, {{4e9}, 500, {}});
  CHECK_THAT(bytes.formula, test::contains_text("12 * 500 ns"));
  CHECK_THAT(bytes.formula, test::contains_text("4 GB/s"));
}

}  // namespace
}  // namespace shardlab
