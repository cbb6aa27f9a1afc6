// Predicted bus bandwidths beside measured ones: with the shipped figures, and refitted without each curve.
//
// `shardlab_test_network "[.table]"` prints the table, and the fit that assets/network/collectives.yaml
// holds.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/unit/network/clusters.h"
#include "tests/unit/network/curve_fit.h"
#include "tests/unit/network/measured_curves.h"

namespace shardlab::test {
namespace {

struct Judged {
  const MeasuredCurve* curve = nullptr;
  WithinTargets shipped, left_out;
};

// Without a curve nothing is known of the kind of network that it alone was measured on.
WithinTargets without(const std::vector<MeasuredCurve>& curves, const MeasuredCurve& curve) {
  MeasuredCurve unknown = curve;
  if (curve.own_fabric) unknown.device.wires.network_latency_seconds = 0;
  return within_targets(unknown,
                        errors_of(unknown, fit_figures(curves, curve.device.network.collectives, &curve)));
}

std::vector<Judged> judge(const std::vector<MeasuredCurve>& curves) {
  std::vector<Judged> judged;
  for (const MeasuredCurve& curve : curves)
    judged.push_back({&curve, within_targets(curve, errors_of(curve, curve.device.network.collectives)),
                      without(curves, curve)});
  return judged;
}

std::string part(int within, int all, double worst) {
  return all == 0 ? fmt::format("{:>18}", "-")
                  : fmt::format("{:>3} of {:<3} {:5.0f} %  ", within, all, worst * 100);
}

std::string words(const WithinTargets& within) {
  return part(within.large_within, within.large, within.worst_large) + " " +
         part(within.small_within, within.small, within.worst_small);
}

void print(const CollectiveFigures& figures) {
  const auto row = [](const char* name, const CollectiveFigures::ByGeneration& values) {
    fmt::print("  {:<20} {:.4g} {:.4g} {:.4g} {:.4g}\n", name, values[0], values[1], values[2], values[3]);
  };
  row("launch_us", figures.launch_us);
  fmt::print("  {:<20} {:.4g}, fill {:.4g}\n", "ring efficiency", figures.ring_efficiency,
             figures.ring_fill_us);
  row("nvls efficiency", figures.nvls_efficiency);
  row("nvls fill_us", figures.nvls_fill_us);
  fmt::print("  {:<20} {:.4g}\n", "doubling_us", figures.doubling_us);
}

TEST_CASE("the table of measured curves", "[.table]") {
  const auto curves = read_measured_curves();
  fmt::print("points within 10 % from 16 MiB, 40 % below, and the worst of each\n{:<30} {:<37} {}\n", "",
             "shipped figures", "refitted without the curve");
  for (const Judged& one : judge(curves))
    fmt::print("{:<30} {} {}\n", one.curve->name, words(one.shipped), words(one.left_out));
  fmt::print("the fit of all\n");
  print(fit_figures(curves, curves.front().device.network.collectives));
  for (const MeasuredCurve& curve : curves) {
    if (!curve.fitted) continue;
    fmt::print("without {}\n", curve.name);
    print(fit_figures(curves, curve.device.network.collectives, &curve));
  }
  for (const MeasuredCurve& curve : curves) {
    const auto errors = errors_of(curve, curve.device.network.collectives);
    fmt::print("{}\n ", curve.name);
    for (std::size_t i = 0; i < errors.size(); ++i)
      fmt::print(" {}K:{:+.0f}%", curve.points[i].bytes >> 10, errors[i] * 100);
    fmt::print("\n");
  }
}

CollectiveFigures shipped() {
  return cluster("dgx-h100", 1).network.collectives;
}

TEST_CASE("the shipped figures are the fit of the curves, and lie in the range of the fits without each") {
  const auto curves = read_measured_curves();
  const CollectiveFigures figures = shipped();
  const CollectiveFigures fit = fit_figures(curves, figures);
  for (std::size_t generation = 1; generation < k_nccl_generations; ++generation)
    CHECK(figures.launch_us[generation] == Approx(fit.launch_us[generation]).epsilon(0.005));
  for (const std::size_t switched : {2, 3}) {
    CHECK(figures.nvls_efficiency[switched] == Approx(fit.nvls_efficiency[switched]).epsilon(0.005));
    CHECK(figures.nvls_fill_us[switched] == Approx(fit.nvls_fill_us[switched]).epsilon(0.005));
  }
  CHECK(figures.ring_efficiency == Approx(fit.ring_efficiency).epsilon(0.005));
  CHECK(figures.ring_fill_us == Approx(fit.ring_fill_us).epsilon(0.005));
  CHECK(figures.doubling_us == Approx(fit.doubling_us).epsilon(0.005));
}

// The target is every point; how many there are is what the table prints. What is outside: Blackwell without
// its own curve, several racks of GB200, an old table of A100 around 1 MiB and 16 MiB, and what a first call
// took on EFA.
TEST_CASE("measured bus bandwidths are predicted, of curves used and of curves left out") {
  const auto curves = read_measured_curves();
  WithinTargets used, left;
  const auto add = [](WithinTargets& sum, const WithinTargets& one) {
    sum.large += one.large;
    sum.large_within += one.large_within;
    sum.small += one.small;
    sum.small_within += one.small_within;
  };
  for (const Judged& one : judge(curves)) {
    INFO(one.curve->name);
    add(used, one.shipped);
    add(left, one.left_out);
    const bool one_node = one.curve->fitted && shape_of_all(one.curve->device).nodes == 1;
    if (one_node && one.shipped.small > 0) CHECK(one.shipped.large_within == one.shipped.large);
  }
  CHECK(used.large == 120);
  CHECK(used.small == 87);
  CHECK(used.large_within >= 98);
  CHECK(used.small_within >= 73);
  CHECK(left.large_within >= 87);
  CHECK(left.small_within >= 61);
}

}  // namespace
}  // namespace shardlab::test
