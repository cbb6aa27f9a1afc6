// What libraries take on GPUs, by hand: a connection is 2 MiB with who sends and 10 MiB with who receives (6
// and 6 where Ampere reads over NVLink), 10 and 10 over a network.
#include "simulator/memory/overheads/memory_overheads.h"

#include <algorithm>

#include "engine/hardware/device.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

std::vector<MemoryOverhead> rows_of(const PlannedScenario& planned) {
  const Device device = test::device_of(planned);
  return memory_overheads(planned, device, device.runtime);
}

PlannedScenario planned_on(const std::string& cluster, const std::string& strategy = "fsdp2",
                           const std::string& train = "clip_norm: 1.0") {
  return test::small_scenario("parallel: {strategy: " + strategy + "}", train, cluster);
}

// As if every all-reduce had this many bytes.
void resize_all_reduces(PlannedScenario& planned, Bytes bytes) {
  RunPlan& run = planned.plan;
  for (StepPlan* plan : {&run.setup, &run.first, run.second ? &*run.second : nullptr, &run.steady})
    for (std::size_t i = 0; plan != nullptr && i < plan->instructions.size(); ++i)
      if (plan->instructions[i].kind == InstructionKind::AllReduce) plan->instructions[i].bytes = bytes;
}

MemoryOverhead named(const std::vector<MemoryOverhead>& rows, const std::string& begin) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const MemoryOverhead& row) { return row.name.starts_with(begin); });
  INFO(begin);
  REQUIRE(found != rows.end());
  return *found;
}

bool has(const std::vector<MemoryOverhead>& rows, const std::string& begin) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const MemoryOverhead& row) { return row.name.starts_with(begin); });
}

}  // namespace

TEST_CASE("overheads: one H100 has a context, two workspaces and a process, and does not communicate") {
  const PlannedScenario planned = planned_on("{gpu: H100-SXM, gpus_per_node: 1}", "none");
  const auto rows = rows_of(planned);
  CHECK(rows.size() == 3);
  CHECK(named(rows, "CUDA context").bytes == mebibytes(837));
  CHECK(named(rows, "CUDA context").where == OverheadPlace::device);
  CHECK(named(rows, "cuBLAS").bytes == mebibytes(64));
  CHECK(named(rows, "cuBLAS").high == mebibytes(2 * (32 + 1)));
  CHECK(named(rows, "cuBLAS").where == OverheadPlace::allocator);
  CHECK(named(rows, "processes").where == OverheadPlace::host);
  for (const MemoryOverhead& row : rows) {
    CHECK(row.low <= row.bytes);
    CHECK(row.bytes <= row.high);
    CHECK_FALSE(row.formula.empty());
    CHECK_FALSE(row.source.empty());
  }
  const Device device = test::device_of(planned);
  const auto allocations = library_allocations(planned, device, device.runtime);
  REQUIRE(allocations.size() == 1);
  CHECK(allocations[0] == LibraryAllocation{mebibytes(32), StreamId{0}, 2});
}

// Measured on an H200 with torch 2.11: 837 MiB beside the allocator without a group, 1,325 with a group of
// one rank.
TEST_CASE("overheads: a program in Python loads NCCL's kernels, whatever its ranks") {
  const auto of = [](const std::string& strategy, const std::string& semantics) {
    return rows_of(test::small_scenario("parallel: {strategy: " + strategy + "}\n" + semantics,
                                        "clip_norm: 1.0", "{gpu: H200-SXM, gpus_per_node: 1}"));
  };
  const auto python = of("fsdp2", "semantics: {host: python}");
  CHECK(named(python, "CUDA context").bytes + named(python, "kernels of NCCL").bytes == mebibytes(1325));
  CHECK_FALSE(has(python, "NCCL"));
  CHECK_FALSE(has(of("none", "semantics: {host: python}"), "kernels of NCCL"));
  CHECK_FALSE(has(of("fsdp2", "semantics: {host: shardlab}"), "kernels of NCCL"));
  CHECK(has(rows_of(planned_on("{node: dgx-h100, nodes: 1}")), "kernels of NCCL"));
}

TEST_CASE("overheads: shards of eight H100 are gathered and reduced around 24 rings") {
  const auto rows = rows_of(planned_on("{node: dgx-h100, nodes: 1}"));
  const MemoryOverhead& nccl = named(rows, "NCCL shard, 8 ranks");
  CHECK(nccl.bytes == mebibytes(24 * (2 + 10)));
  // All at once: 24 trees, NVLS of 16 channels x 2 MiB x 8 ranks, 32 channels x 16 x 512 KiB for sends.
  CHECK(nccl.high == mebibytes(288 + 288 + 256 + 256));
  CHECK(named(rows, "processes").bytes.value == 8 * 553'095'168LL);
  CHECK(named(rows, "NCCL in host").bytes == mebibytes(8));
}

TEST_CASE("overheads: large all-reduces of one node go through its switch, small ones around a ring") {
  PlannedScenario planned = planned_on("{node: dgx-h100, nodes: 1}", "ddp", "clip_norm: null");
  resize_all_reduces(planned, mebibytes(1));
  const MemoryOverhead small = named(rows_of(planned), "NCCL");
  CHECK_THAT(small.formula, test::contains_text("ring of 24 channels 288 MiB"));
  CHECK(small.formula.find("NVLS") == std::string::npos);
  resize_all_reduces(planned, mebibytes(25));
  const MemoryOverhead large = named(rows_of(planned), "NCCL");
  CHECK_THAT(large.formula, test::contains_text("NVLS of 16 channels and 8 ranks 256 MiB"));
  CHECK(large.bytes - small.bytes <= mebibytes(256));
}

TEST_CASE("overheads: Blackwell has other channels, Ampere no reductions in its switch") {
  CHECK(named(rows_of(planned_on("{node: dgx-b200, nodes: 1}")), "NCCL").bytes == mebibytes(32 * 12));
  PlannedScenario a100 = planned_on("{node: dgx-a100, nodes: 1}", "ddp");
  resize_all_reduces(a100, mebibytes(25));
  CHECK(named(rows_of(a100), "NCCL").bytes == mebibytes(24 * (6 + 6)));
}

// nccl issue 964: an all-reduce of 4 MiB takes 544 MiB of each of two A100, and 688 of rank 0 of more. That
// release connected everything at once. Rank 0 is at the end of its trees, which has half of what we count
// for a rank in their middle: 144 of 288 MiB.
TEST_CASE("overheads: published sums of A100") {
  const auto two = rows_of(planned_on("{gpu: A100-SXM-80GB, gpus_per_node: 2}", "ddp"));
  CHECK(named(two, "NCCL").high == mebibytes(544));
  const auto four = rows_of(planned_on("{gpu: A100-SXM-80GB, gpus_per_node: 4}", "ddp"));
  CHECK(named(four, "NCCL").high == mebibytes(688 + 144));
}

TEST_CASE("overheads: rings across nodes leave by eight adapters, and the norm takes a tree") {
  const auto rows = rows_of(planned_on("{node: dgx-h100, nodes: 2}"));
  const MemoryOverhead& nccl = named(rows, "NCCL shard, 16 ranks on 2 nodes");
  // 16 channels, two of them into a rank and two out of it: 14 x 12 + 2 x 20 MiB; trees within the node.
  CHECK(nccl.bytes == mebibytes(14 * 12 + 2 * 20 + 16 * 12));
  const auto without = rows_of(planned_on("{node: dgx-h100, nodes: 2}", "fsdp2", "clip_norm: null"));
  CHECK(named(without, "NCCL").bytes <= nccl.bytes);
  // Four connections of protocol LL, 512 KiB and two headers each, and a queue; eight ranks.
  CHECK(named(rows, "NCCL in host").bytes.value == 8 * (4 * (512 + 8) * 1024 + (1 << 20)));
}

// Shards of the small model's tensors, powers of two and others, each rounded up on its own.
TEST_CASE("overheads: page-locked tensors take a power of two each") {
  const PlannedScenario planned =
      test::small_scenario("parallel: {strategy: fsdp2}\noffload: {parameters: cpu}", "clip_norm: 1.0",
                           "{node: dgx-h100, nodes: 1}");
  Bytes asked, taken;
  for (const Buffer& buffer : planned.plan.steady.buffers) {
    if (buffer.space != MemorySpace::pinned_host) continue;
    asked += buffer.bytes();
    for (const ParameterId id : buffer.parameters) {
      const Shape& shape = planned.graph.parameter(id).shape;
      const std::int64_t rows = (shape[0] + 7) / 8;
      std::int64_t bytes = 1;
      while (bytes < 4 * rows * (element_count(shape) / shape[0])) bytes *= 2;
      taken.value += bytes;
    }
  }
  const MemoryOverhead pinned = named(rows_of(planned), "pinned buffers");
  CHECK(taken > asked);
  CHECK(pinned.bytes == taken * 8);
  CHECK(pinned.low == asked * 8);
  CHECK(pinned.where == OverheadPlace::host);
}

TEST_CASE("overheads: each dimension of a mesh has a communicator") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2, mesh: {replicate: 2}}",
                                                       "clip_norm: null", "{node: dgx-h100, nodes: 2}");
  const auto rows = rows_of(planned);
  CHECK(named(rows, "NCCL shard, 8 ranks").bytes == mebibytes(288));
  // One rank a node: one adapter, four channels, all of them across.
  CHECK(named(rows, "NCCL replicate, 2 ranks on 2 nodes").bytes == mebibytes(4 * 20));
}

// nccl issue 1685: the first all-to-all of eight H100 took 3.28 GB more, in pieces of 2 and 10 MiB: 7 peers x
// 32 channels make 2688 MiB of them.
TEST_CASE("overheads: all-to-all connects every peer by every channel") {
  PlannedScenario planned = planned_on("{node: dgx-h100, nodes: 1}");
  const Bytes before = named(rows_of(planned), "NCCL").bytes;
  auto& instructions = planned.plan.steady.instructions;
  Instruction exchange = *std::find_if(instructions.begin(), instructions.end(), [](const Instruction& each) {
    return each.kind == InstructionKind::AllGather;
  });
  exchange.kind = InstructionKind::AllToAll;
  instructions.push_back(exchange);
  CHECK(named(rows_of(planned), "NCCL").bytes - before == mebibytes(7 * 32 * 12));
}

TEST_CASE("overheads: GPUs that cannot reach each other exchange through the host") {
  const auto rows = rows_of(planned_on("{gpu: RTX4090, gpus_per_node: 4}"));
  CHECK(named(rows, "NCCL shard").bytes.value == 0);
  CHECK(named(rows, "NCCL shard").formula == "all of it in host memory");
  // Four channels of a connection with all protocols: 9633792 bytes and two headers.
  CHECK(named(rows, "NCCL in host").bytes.value == 4 * (4 * (9'633'792 + 2 * 4096) + (1 << 20)));
}

TEST_CASE("overheads: RCCL's are measured, processors have none") {
  const PlannedScenario amd = planned_on("{gpu: MI300X, gpus_per_node: 8}");
  const auto rows = rows_of(amd);
  CHECK_FALSE(has(rows, "CUDA context"));
  CHECK(named(rows, "hipBLAS").bytes == mebibytes(2 * 128));
  CHECK(named(rows, "hipBLAS").high == mebibytes(2 * (128 + 76)));
  CHECK(named(rows, "RCCL shard").bytes == gibibytes(1));
  const PlannedScenario cpu = planned_on("{device: cpu, ranks: 2}");
  const Device device = test::device_of(cpu);
  CHECK(rows_of(cpu).empty());
  CHECK(library_allocations(cpu, device, device.runtime).empty());
}

}  // namespace shardlab
