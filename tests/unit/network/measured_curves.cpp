#include "tests/unit/network/measured_curves.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "engine/base/parse.h"
#include "engine/base/yaml.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/network/clusters.h"

namespace shardlab::test {
namespace {

constexpr std::int64_t k_large = 16 << 20;
constexpr double k_large_target = 0.1;
constexpr double k_small_target = 0.4;

std::string text_of(const YamlNode& entry, const char* key) {
  const YamlNode* const node = entry.find(key);
  return node != nullptr ? node->text : "";
}

double number_of(const YamlNode& entry, const char* key) {
  return parse_number(text_of(entry, key)).value();
}

MeasuredCurve read_curve(const YamlNode& entry) {
  MeasuredCurve curve;
  curve.name = text_of(entry, "name");
  INFO(curve.name);
  curve.device = cluster(text_of(entry, "node").c_str(), static_cast<int>(number_of(entry, "nodes")));
  if (entry.find("adapters_gbps") != nullptr) {
    const double gbps = number_of(entry, "adapters_gbps");
    curve.device.wires.network_per_rank = {gbps / 8 * 1e9 / curve.device.ranks_per_node};
    curve.device.adapters = static_cast<int>(gbps / 200);
  }
  curve.kind = parse_word<CollectiveKind>(text_of(entry, "collective")).value();
  curve.fitted = text_of(entry, "fitted") == "true";
  curve.own_fabric = text_of(entry, "own_fabric") == "true";
  auto bytes = static_cast<std::int64_t>(number_of(entry, "first"));
  for (const YamlNode& bandwidth : entry.find("bandwidths")->items) {
    curve.points.push_back({bytes, parse_number(bandwidth.text).value()});
    bytes *= 2;
  }
  return curve;
}

}  // namespace

std::vector<MeasuredCurve> read_measured_curves() {
  std::ifstream stream(data_file("network/measured_curves.yaml"), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto root = parse_yaml(text, "measured_curves.yaml");
  REQUIRE_OK(root);
  std::vector<MeasuredCurve> curves;
  for (const YamlNode& entry : root->find("curves")->items) curves.push_back(read_curve(entry));
  return curves;
}

double measured_us(const MeasuredCurve& curve, const MeasuredPoint& point) {
  return static_cast<double>(point.bytes) * bus_factor(curve.kind, curve.device.ranks) / (1000 * point.bus);
}

std::vector<double> errors_of(const MeasuredCurve& curve, const CollectiveFigures& figures) {
  Device device = curve.device;
  device.network.collectives = figures;
  const GroupNetwork communicator(device, shape_of_all(device));
  std::vector<double> errors;
  for (const MeasuredPoint& point : curve.points)
    errors.push_back(measured_us(curve, point) / communicator.time(curve.kind, {point.bytes}).total_us() - 1);
  return errors;
}

WithinTargets within_targets(const MeasuredCurve& curve, const std::vector<double>& errors) {
  WithinTargets within;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double error = std::abs(errors[i]);
    if (curve.points[i].bytes >= k_large) {
      ++within.large;
      within.large_within += error <= k_large_target ? 1 : 0;
      within.worst_large = std::max(within.worst_large, error);
    } else {
      ++within.small;
      within.small_within += error <= k_small_target ? 1 : 0;
      within.worst_small = std::max(within.worst_small, error);
    }
  }
  return within;
}

}  // namespace shardlab::test
