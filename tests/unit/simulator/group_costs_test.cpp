// Costs of collectives by the group that does them, and what they share with what runs beside them.
#include "simulator/cost/group_costs.h"
#include "simulator/cost/contention.h"
#include "simulator/simulate.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

PlannedScenario on(const std::string& cluster, const std::string& mesh) {
  return test::small_scenario("parallel: {strategy: fsdp2" + mesh + "}", "clip_norm: 1.0", cluster);
}

const Group& group_of(const PlannedScenario& planned, InstructionKind kind) {
  for (const Instruction& instruction : planned.plan.steady.instructions) {
    if (instruction.kind == kind && instruction.group)
      return planned.plan.steady.groups[instruction.group->index()];
  }
  throw std::runtime_error("no such collective");
}

double ns(const PlannedScenario& planned, const CostCoefficients& coefficients, InstructionKind of_group,
          InstructionKind kind, std::int64_t bytes) {
  const Device device = test::device_of(planned);
  GroupCosts costs(planned, device, coefficients);
  return costs.cost(group_of(planned, of_group), kind, {bytes}).nanoseconds;
}

TEST_CASE("a calibration of all ranks holds for all ranks; other groups take what is predicted, corrected") {
  const PlannedScenario all = on("{node: hgx-h100, nodes: 1}", "");
  const PlannedScenario pairs = on("{node: hgx-h100, nodes: 1}", ", mesh: {replicate: 4, shard: 2}");
  const CostCoefficients published = published_coefficients(test::device_of(all), {});
  CostCoefficients measured = published;
  // Everything takes a second more than the bytes do: that of eight ranks, not of two.
  measured.collectives[InstructionKind::AllGather] = {1e9, {1e9}, 0, {}};
  const auto gather = InstructionKind::AllGather;
  CHECK(ns(all, measured, gather, gather, 1 << 20) == Approx(1e9 + (1 << 20) * 7.0 / 8));
  const double ratio =
      ns(all, measured, gather, gather, 1 << 20) / ns(all, published, gather, gather, 1 << 20);
  CHECK(ns(pairs, measured, gather, gather, 1 << 20) ==
        Approx(ratio * ns(pairs, published, gather, gather, 1 << 20)));
  CHECK(ns(pairs, measured, gather, gather, 1 << 20) < ns(all, measured, gather, gather, 1 << 20));
}

TEST_CASE("a calibration holds on wires as they are, and corrects what is predicted of supposed ones") {
  const std::string links = "{node: hgx-h100, nodes: 1, suppose: {intra_node: 2}}";
  const PlannedScenario plain = on("{node: hgx-h100, nodes: 1}", ""), faster = on(links, "");
  const CostCoefficients published = published_coefficients(test::device_of(plain), {});
  CostCoefficients measured = published;
  measured.collectives[InstructionKind::AllGather] = {0, {1e11}, 0, {}};
  const auto gather = InstructionKind::AllGather;
  const auto took = [&](const PlannedScenario& planned, const CostCoefficients& coefficients) {
    return ns(planned, coefficients, gather, gather, 1 << 28);
  };
  CHECK(took(faster, published) < 0.7 * took(plain, published));
  CHECK(took(faster, measured) ==
        Approx(took(plain, measured) * took(faster, published) / took(plain, published)));
}

TEST_CASE("of groups that lie on nodes unlike the slowest holds, not rank 0's") {
  // Groups of three on nodes of four: 0 1 2 in one node, 3 4 5 across two.
  const PlannedScenario planned =
      on("{node: hgx-h100, nodes: 3, gpus_per_node: 4}", ", mesh: {replicate: 4, shard: 3}");
  const Device device = test::device_of(planned);
  const CostCoefficients published = published_coefficients(device, {});
  GroupCosts costs(planned, device, published);
  const CollectiveCost gather =
      costs.cost(group_of(planned, InstructionKind::AllGather), InstructionKind::AllGather, {1 << 28});
  CHECK(gather.shape == GroupShape{3, 2, 1});
  CHECK(gather.nanoseconds >
        GroupNetwork(device, {3, 1, 3}).time(CollectiveKind::all_gather, {1 << 28}).total_us() * 1000);
}

TEST_CASE("broadcasts, reductions and all-to-alls take their own time") {
  const PlannedScenario planned = on("{node: hgx-h100, nodes: 2}", "");
  const CostCoefficients published = published_coefficients(test::device_of(planned), {});
  const auto of = [&](InstructionKind kind) {
    return ns(planned, published, InstructionKind::AllGather, kind, 1 << 28);
  };
  CHECK(of(InstructionKind::Broadcast) < 0.7 * of(InstructionKind::AllReduce));
  CHECK(of(InstructionKind::Reduce) < 0.7 * of(InstructionKind::AllReduce));
  CHECK(of(InstructionKind::AllToAll) > 1.5 * of(InstructionKind::AllReduce));  // over one adapter a rank
}

ResourceShares shares(const Device& device, const GroupShape& shape, std::int64_t bytes) {
  const TransferTime time = GroupNetwork(device, shape).time(CollectiveKind::all_gather, {bytes});
  return shares_of_collective(device, time, time.total_us() * 1000, {});
}

TEST_CASE("a collective costs computing what its channels and bytes take") {
  const Device device = test::device_of(on("{node: hgx-h100, nodes: 2}", ""));
  const ResourceShares tiny = shares(device, {8, 1, 8}, 4);
  const ResourceShares large = shares(device, {8, 1, 8}, 1 << 30);
  const ResourceShares rails = shares(device, {2, 2, 1}, 1 << 30);
  const auto lost = [](const ResourceShares& its) { return its.of(SharedResource::multiprocessors); };
  CHECK(lost(tiny) == Approx(1.0 / 132).epsilon(0.02));
  CHECK(lost(large) > 24.0 / 132);
  CHECK(lost(large) < 0.4);
  CHECK(lost(rails) == Approx(2.0 / 132 + 0.15).margin(0.01));  // two channels, and a busy adapter
  CHECK(large.of(SharedResource::node_link) > 0.9);
  CHECK(large.of(SharedResource::network) == 0);
  CHECK(rails.of(SharedResource::network) > 0.9);
  // One GPU of each node: nothing goes over the links inside, and memory carries the bytes once: twice 50
  // GB/s.
  CHECK(rails.of(SharedResource::node_link) == 0);
  CHECK(rails.of(SharedResource::memory) == Approx(2 * 50 / (3350 * 0.85)).margin(0.01));
  // Two of each: of a ring's hops every second one.
  CHECK(shares(device, {4, 2, 2}, 1 << 30).of(SharedResource::node_link) > 0.05);
  // Twice 361 GB/s of 3350 x 0.85.
  CHECK(large.of(SharedResource::memory) == Approx(0.25).margin(0.03));
  CHECK(tiny.of(SharedResource::memory) < 0.001);
}

TEST_CASE("a collective that a wire slows keeps its multiprocessors") {
  const Device device = test::device_of(on("{node: hgx-h100, nodes: 1}", ""));
  const ResourceShares one = shares(device, {8, 1, 8}, 1 << 30), other = one;
  ResourceShares product;
  product.add(SharedResource::multiprocessors, 1);
  const std::vector<ResourceUses> running{one.uses(), other.uses(), product.uses()};
  std::vector<std::int64_t> rates;
  fair_rates(running, rates);
  // The link is shared by two, at half speed each; both rings' channels stay where they are.
  const double lost = 2 * one.of(SharedResource::multiprocessors);
  CHECK(static_cast<double>(rates[0]) / k_full_share == Approx(0.5).margin(0.05));
  CHECK(static_cast<double>(rates[2]) / k_full_share == Approx(1 - lost).margin(0.02));
}

TEST_CASE("a measured loss of computing is what a collective with all channels takes") {
  const Device device = test::device_of(on("{node: hgx-h100, nodes: 1}", ""));
  ContentionFactors factors;
  factors.lost_to_channels = 0.5;
  const GroupNetwork network(device, {8, 1, 8});
  const auto lost = [&](std::int64_t bytes) {
    const TransferTime time = network.time(CollectiveKind::all_gather, {bytes});
    return shares_of_collective(device, time, time.total_us() * 1000, factors)
        .of(SharedResource::multiprocessors);
  };
  CHECK(lost(1 << 30) == Approx(0.5));
  CHECK(lost(4) == Approx(0.5 / 24).epsilon(0.01));
}

}  // namespace
}  // namespace shardlab
