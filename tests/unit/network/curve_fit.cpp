#include "tests/unit/network/curve_fit.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace shardlab::test {
namespace {

// Launches of four generations; ring: 1 / efficiency, filling; NVLS of Hopper and of Blackwell: likewise.
constexpr std::size_t k_terms = 10;
constexpr std::size_t k_ring = 4, k_hopper = 6, k_blackwell = 8;
// The targets are 10 % and 40 %: an error of a large message counts four times as much.
constexpr std::int64_t k_large = 16 << 20;
constexpr double k_weight_of_large = 4;
// So weak that it decides only where there is no measurement.
constexpr double k_prior_weight = 1e-3;

using Terms = std::array<double, k_terms>;

class NormalEquations {
 public:
  void add(const Terms& terms, double value, double weight) {
    for (std::size_t i = 0; i < k_terms; ++i) {
      for (std::size_t j = 0; j < k_terms; ++j) rows_[i][j] += weight * weight * terms[i] * terms[j];
      rows_[i][k_terms] += weight * weight * terms[i] * value;
    }
  }

  Terms solve() {
    for (std::size_t pivot = 0; pivot < k_terms; ++pivot) {
      for (std::size_t row = 0; row < k_terms; ++row) {
        if (row == pivot) continue;
        const double factor = rows_[row][pivot] / rows_[pivot][pivot];
        for (std::size_t column = pivot; column <= k_terms; ++column)
          rows_[row][column] -= factor * rows_[pivot][column];
      }
    }
    Terms solution{};
    for (std::size_t i = 0; i < k_terms; ++i) solution[i] = rows_[i][k_terms] / rows_[i][i];
    return solution;
  }

 private:
  std::array<std::array<double, k_terms + 1>, k_terms> rows_{};
};

// With every coefficient one, a time's parts are what the coefficients multiply.
CollectiveFigures units(CollectiveFigures figures) {
  figures.launch_us.fill(0);
  figures.ring_efficiency = figures.ring_fill_us = 1;
  figures.nvls_efficiency.fill(1);
  figures.nvls_fill_us.fill(1);
  return figures;
}

GroupNetwork network_with(const MeasuredCurve& curve, const CollectiveFigures& figures) {
  Device device = curve.device;
  device.network.collectives = figures;
  return {device, shape_of_all(device)};
}

void add_curve(NormalEquations& equations, const MeasuredCurve& curve, const CollectiveFigures& figures) {
  const GroupNetwork communicator = network_with(curve, units(figures));
  const NcclGeneration generation = communicator.graph().generation;
  for (const MeasuredPoint& point : curve.points) {
    const TransferTime time = communicator.time(curve.kind, {point.bytes});
    const double measured = measured_us(curve, point);
    Terms terms{};
    terms[index_of(generation)] = 1;
    double known = time.latency_us;
    if (time.choice->protocol == NcclProtocol::ll) {
      known += time.transfer_us;
    } else {
      const bool ring = time.choice->algorithm != NcclAlgorithm::nvls;
      const std::size_t place = ring ? k_ring : generation == NcclGeneration::hopper ? k_hopper : k_blackwell;
      terms[place] = time.transfer_us;
      terms[place + 1] = time.fill_us;
    }
    const double weight = (point.bytes >= k_large ? k_weight_of_large : 1) / measured;
    equations.add(terms, measured - known, weight);
  }
}

void add_prior(NormalEquations& equations, const CollectiveFigures& start) {
  const auto inverse = [](double efficiency) { return 1 / efficiency; };
  Terms prior{};
  for (std::size_t i = 0; i < k_ring; ++i) prior[i] = start.launch_us[i];
  prior[k_ring] = inverse(start.ring_efficiency);
  prior[k_ring + 1] = start.ring_fill_us;
  for (const auto& [place, generation] :
       {std::pair{k_hopper, NcclGeneration::hopper}, std::pair{k_blackwell, NcclGeneration::blackwell}}) {
    prior[place] = inverse(start.nvls_efficiency[index_of(generation)]);
    prior[place + 1] = start.nvls_fill_us[index_of(generation)];
  }
  for (std::size_t i = 0; i < k_terms; ++i) {
    Terms terms{};
    terms[i] = 1;
    equations.add(terms, prior[i], std::sqrt(k_prior_weight) / prior[i]);
  }
}

void take(const Terms& terms, CollectiveFigures& figures) {
  for (std::size_t i = 0; i < k_ring; ++i) figures.launch_us[i] = terms[i];
  figures.ring_efficiency = 1 / terms[k_ring];
  figures.ring_fill_us = terms[k_ring + 1];
  figures.nvls_efficiency[index_of(NcclGeneration::hopper)] = 1 / terms[k_hopper];
  figures.nvls_fill_us[index_of(NcclGeneration::hopper)] = terms[k_hopper + 1];
  figures.nvls_efficiency[index_of(NcclGeneration::blackwell)] = 1 / terms[k_blackwell];
  figures.nvls_fill_us[index_of(NcclGeneration::blackwell)] = terms[k_blackwell + 1];
}

// One coefficient, on top of the others.
double fit_doubling(const std::vector<const MeasuredCurve*>& curves, CollectiveFigures figures) {
  double above = 0, below = 0;
  for (const MeasuredCurve* const curve : curves) {
    figures.doubling_us = 0;
    const GroupNetwork without = network_with(*curve, figures);
    figures.doubling_us = 1;
    const GroupNetwork with = network_with(*curve, figures);
    for (const MeasuredPoint& point : curve->points) {
      const double base = without.time(curve->kind, {point.bytes}).total_us();
      const double slope = with.time(curve->kind, {point.bytes}).total_us() - base;
      const double measured = measured_us(*curve, point);
      above += slope * (measured - base) / (measured * measured);
      below += slope * slope / (measured * measured);
    }
  }
  return above / below;
}

}  // namespace

CollectiveFigures fit_figures(const std::vector<MeasuredCurve>& curves, const CollectiveFigures& start,
                              const MeasuredCurve* without) {
  NormalEquations equations;
  add_prior(equations, start);
  std::vector<const MeasuredCurve*> between;
  for (const MeasuredCurve& curve : curves) {
    if (!curve.fitted || &curve == without) continue;
    if (shape_of_all(curve.device).nodes > 1) {
      between.push_back(&curve);
    } else {
      add_curve(equations, curve, start);
    }
  }
  CollectiveFigures figures = start;
  take(equations.solve(), figures);
  figures.doubling_us = fit_doubling(between, figures);
  return figures;
}

}  // namespace shardlab::test
