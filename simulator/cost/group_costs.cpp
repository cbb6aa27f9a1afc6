#include "simulator/cost/group_costs.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/plan/group_ranks.h"
#include "simulator/cost/contention.h"
#include "simulator/cost/explain_transfer.h"

namespace shardlab {
namespace {

// The network of all ranks on the wires that could be measured; none where they are the device's own.
std::vector<GroupNetwork> described_network(const Device& device) {
  if (!has_supposed_wires(device)) return {};
  return {GroupNetwork(with_described_wires(device), shape_of_all(device))};
}

// The different ways in which the ranks that a group stands for lie on the nodes.
std::vector<GroupShape> shapes_of(const Group& group, const Scenario& scenario, const Device& device) {
  std::vector<GroupShape> shapes;
  std::vector<bool> seen(static_cast<std::size_t>(std::max(device.ranks, 1)), false);
  for (int rank = 0; rank < device.ranks; ++rank) {
    if (seen[static_cast<std::size_t>(rank)]) continue;
    const std::vector<int> members = ranks_of_group(group, scenario, rank);
    for (const int member : members) {
      if (member < device.ranks) seen[static_cast<std::size_t>(member)] = true;
    }
    const GroupShape shape = shape_of_group(members, device);
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  }
  return shapes;
}

// A CPU's ranks share one wire, whatever the shape of the group. What it has no figures for goes as an
// all-reduce.
CollectiveTerms loopback_terms(const Links& links, InstructionKind kind) {
  const CollectiveCoefficients& link = kind == InstructionKind::AllGather       ? links.all_gather
                                       : kind == InstructionKind::ReduceScatter ? links.reduce_scatter
                                                                                : links.all_reduce;
  return {link.latency_seconds * 1e9, link.bandwidth, link.seconds_per_sqrt_byte * 1e9, {}};
}

}  // namespace

GroupCosts::GroupCosts(const PlannedScenario& planned, const Device& device,
                       const CostCoefficients& coefficients)
    : planned_(planned),
      device_(device),
      coefficients_(coefficients),
      all_{{device, shape_of_all(device)}},
      described_(described_network(device)) {}

const GroupCosts::Known& GroupCosts::known(const Group& group) {
  for (const Known& known : known_) {
    if (known.group == group) return known;
  }
  Known& known = known_.emplace_back(Known{group, {}});
  for (const GroupShape& shape : shapes_of(group, planned_.scenario, device_))
    known.networks.emplace_back(device_, shape);
  return known;
}

GroupCosts::Predicted GroupCosts::predicted(const std::vector<GroupNetwork>& networks, InstructionKind kind,
                                            Bytes bytes) const {
  Predicted slowest;
  for (const GroupNetwork& network : networks) {
    Predicted one{0, {}, network.shape()};
    if (device_.wires.shared) {
      one.nanoseconds = collective_formula_ns({kind, bytes, network.shape().ranks},
                                              loopback_terms(*device_.wires.shared, kind));
    } else {
      one.transfer = network.time(collective_kind(kind), bytes);
      one.nanoseconds = one.transfer->total_us() * 1000;
    }
    if (one.nanoseconds >= slowest.nanoseconds) slowest = one;
  }
  return slowest;
}

const CollectiveTerms* GroupCosts::measured(const GroupShape& shape, InstructionKind kind) const {
  const auto found = coefficients_.collectives.find(kind);
  const bool same_wires = (shape.nodes > 1) == (all_.front().shape().nodes > 1);
  return found != coefficients_.collectives.end() && same_wires ? &found->second : nullptr;
}

CollectiveCost GroupCosts::cost(const Group& group, InstructionKind kind, Bytes bytes) {
  if (group.size <= 1) return {};
  const Predicted slowest = predicted(known(group).networks, kind, bytes);
  CollectiveCost cost{slowest.nanoseconds, {}, slowest.transfer, slowest.shape, 1};
  if (const CollectiveTerms* const terms = measured(slowest.shape, kind)) {
    const GroupShape& all = all_.front().shape();
    const double of_all = predicted(described_.empty() ? all_ : described_, kind, bytes).nanoseconds;
    const double was = collective_ns({kind, bytes, all.ranks}, *terms);
    cost.measured_ratio = of_all > 0 ? was / of_all : 1;
    cost.nanoseconds = is_measured_group(slowest.shape) ? was : slowest.nanoseconds * cost.measured_ratio;
  }
  if (cost.transfer)
    cost.shares = shares_of_collective(device_, *cost.transfer, cost.nanoseconds, coefficients_.contention);
  return cost;
}

CostBreakdown GroupCosts::explain(const Group& group, InstructionKind kind, Bytes bytes) {
  const CollectiveCost its = cost(group, kind, bytes);
  const CollectiveTerms* const terms = group.size > 1 ? measured(its.shape, kind) : nullptr;
  if (terms != nullptr && is_measured_group(its.shape))
    return explain_collective({kind, bytes, its.shape.ranks}, *terms);
  if (its.transfer) return explain_transfer(device_, its.shape, kind, bytes, *its.transfer, its.nanoseconds);
  if (group.size <= 1) return {0, std::string(to_string(kind)), "a group of one", {}};
  CostBreakdown formula =
      explain_collective({kind, bytes, its.shape.ranks}, loopback_terms(*device_.wires.shared, kind));
  if (its.measured_ratio != 1) {
    formula.nanoseconds = its.nanoseconds;
    formula.formula += fmt::format(", times {:.3f} as measured of all ranks", its.measured_ratio);
  }
  return formula;
}

}  // namespace shardlab
