#include "simulator/search/equal_candidates.h"

#include <tuple>

namespace shardlab {
namespace {

bool same_devices(const Configuration& a, const Configuration& b) {
  return a.offer == b.offer && a.node == b.node && a.nodes == b.nodes && a.gpus == b.gpus;
}

bool is_nearer(const Candidate& a, const Candidate& b) {
  const auto key = [](const Candidate& each) {
    return std::tuple(each.configuration.changes, each.figures.memory(), each.costs.time,
                      each.configuration.index);
  };
  return key(a) < key(b);
}

}  // namespace

std::optional<double> compared(const Order& order, const Candidate& candidate) {
  const bool by_money = order.largest.empty() && order.objective == SearchObjective::money;
  return by_money ? candidate.costs.money : std::optional(candidate.costs.time);
}

bool same_first(const Order& order, const Candidate& a, const Candidate& b) {
  if (!order.largest.empty())
    return number_given(a.configuration.settings, order.largest) ==
           number_given(b.configuration.settings, order.largest);
  if (order.objective == SearchObjective::gpus) return a.configuration.gpus == b.configuration.gpus;
  if (order.objective == SearchObjective::batch)
    return a.configuration.micro_batch == b.configuration.micro_batch;
  return true;
}

std::optional<Candidate> nearest_equal(const Leader& leader, const std::vector<Candidate>& simulated) {
  const Candidate& best = *leader.best;
  const Candidate* nearest = &best;
  const auto most = compared(leader.order, best);
  for (const Candidate& each : simulated) {
    if (!each.satisfies() || !same_devices(each.configuration, best.configuration) ||
        !same_first(leader.order, best, each))
      continue;
    const auto its = compared(leader.order, each);
    if (!its || !most || *its > *most * (1 + k_equal)) continue;
    if (is_nearer(each, *nearest)) nearest = &each;
  }
  return nearest == &best ? std::nullopt : std::optional(*nearest);
}

const Candidate& recommended(const Leader& leader) {
  return leader.nearest_equal ? *leader.nearest_equal : *leader.best;
}

}  // namespace shardlab
