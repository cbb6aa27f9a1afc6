#include "simulator/search/time_errors.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/base/paths.h"
#include "engine/base/shipped_yaml.h"
#include "engine/base/yaml.h"

namespace shardlab {
namespace {

constexpr std::string_view k_file = "residuals/step_time.yaml";

// What is kept of each series, every series with the same weight in all.
using BySeries = std::map<std::string, std::vector<double>>;

template <typename Weighted>
std::vector<Weighted> weighted(const BySeries& values, double& worth) {
  std::vector<Weighted> all;
  double squares = 0;
  for (const auto& [series, its] : values) {
    const double weight = 1.0 / static_cast<double>(values.size()) / static_cast<double>(its.size());
    for (const double value : its) all.push_back({value, weight});
    squares += weight * weight * static_cast<double>(its.size());
  }
  worth = squares > 0 ? 1 / squares : 0;
  std::sort(all.begin(), all.end(), [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  return all;
}

BySeries ratios_of(const std::vector<TimeCase>& cases) {
  BySeries values;
  for (const TimeCase& each : cases) values[each.series].push_back(each.ratio);
  return values;
}

BySeries differences_of(const std::vector<TimeCase>& cases) {
  std::map<std::pair<std::string, int>, std::vector<double>> groups;
  for (const TimeCase& each : cases) groups[{each.series, each.group}].push_back(std::log(each.ratio));
  BySeries values;
  for (const auto& [key, logarithms] : groups)
    for (std::size_t i = 0; i < logarithms.size(); ++i)
      for (std::size_t j = i + 1; j < logarithms.size(); ++j)
        values[key.first].push_back(std::abs(logarithms[i] - logarithms[j]));
  return values;
}

Result<TimeCase> case_of(const YamlNode& node, const std::string& file) {
  const auto text = [&](std::string_view key) {
    const YamlNode* const found = node.find(key);
    return found != nullptr && found->is_scalar() ? found->text : std::string();
  };
  const auto ratio = parse_number(text("ratio"));
  const auto group = parse_integer(text("group"));
  if (!ratio || *ratio <= 0 || !group || text("series").empty())
    return bad_input(file, "a case without series, group and a positive ratio");
  return TimeCase{text("series"), static_cast<int>(*group), *ratio};
}

}  // namespace

TimeErrors::TimeErrors(const std::vector<TimeCase>& cases)
    : ratios_(weighted<Weighted>(ratios_of(cases), ratios_worth_)),
      differences_(weighted<Weighted>(differences_of(cases), differences_worth_)) {}

Result<TimeErrors> TimeErrors::read() {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset(k_file));
  SHARDLAB_TRY(const std::shared_ptr<const YamlNode> root, read_shipped_yaml(path));
  const YamlNode* const cases = root->find("cases");
  if (cases == nullptr || cases->items.empty()) return bad_input(path.string(), "it has no cases");
  std::vector<TimeCase> read;
  for (const YamlNode& each : cases->items) {
    SHARDLAB_TRY(read.emplace_back(), case_of(each, path.string()));
  }
  return TimeErrors(read);
}

double TimeErrors::share_below(const std::vector<Weighted>& sorted, double value) {
  double share = 0;
  for (const Weighted& each : sorted) {
    if (each.value > value) break;
    share += each.weight;
  }
  return share;
}

double TimeErrors::at_most(double ratio) const {
  return (ratios_worth_ * share_below(ratios_, ratio) + 1) / (ratios_worth_ + 2);
}

double TimeErrors::quantile(double part) const {
  double share = 0;
  for (const Weighted& each : ratios_) {
    share += each.weight;
    if (share >= part) return each.value;
  }
  return ratios_.empty() ? 1 : ratios_.back().value;
}

double TimeErrors::faster(double ratio) const {
  const double below = ratio > 1 ? share_below(differences_, std::log(ratio)) : 0;
  return 0.5 + 0.5 * below * differences_worth_ / (differences_worth_ + 1);
}

double TimeErrors::faster_elsewhere(double ratio) const {
  double sum = 0;
  for (const Weighted& each : ratios_) sum += each.weight * share_below(ratios_, each.value * ratio);
  // Where both errors are equal the predictions decide; of equal predictions each is as likely the faster.
  const double of_equals = ratio > 1 ? 0 : share_of_equals();
  return 0.5 + (sum - of_equals / 2 - 0.5) * ratios_worth_ / (ratios_worth_ + 1);
}

double TimeErrors::share_of_equals() const {
  double sum = 0;
  for (const Weighted& a : ratios_)
    for (const Weighted& b : ratios_)
      if (a.value == b.value) sum += a.weight * b.weight;
  return sum;
}

}  // namespace shardlab
