#include "engine/cli/validation_list.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/error_json.h"
#include "engine/cli/command.h"
#include "engine/report/figures.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

const Metric* find_metric(const Comparison& comparison, std::string_view name) {
  const auto& metrics = comparison.metrics;
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [&](const Metric& metric) { return metric.name == name; });
  return found != metrics.end() ? &*found : nullptr;
}

void add_metric(std::vector<TableCell>& cells, const Comparison& comparison, std::string_view name) {
  const Metric* metric = find_metric(comparison, name);
  if (metric == nullptr) {
    cells.insert(cells.end(), 3, "-");
    return;
  }
  cells.emplace_back(metric_figure(metric->predicted, metric->unit));
  cells.emplace_back(metric_figure(metric->measured, metric->unit));
  cells.emplace_back(metric->error ? fmt::format("{:+.1f} %", *metric->error * 100) : "-");
}

Tone tone_of(Verdict verdict) {
  if (verdict == Verdict::pass) return Tone::good;
  return verdict == Verdict::fail ? Tone::bad : Tone::fair;
}

}  // namespace

Verdict verdict_over(const std::vector<ValidatedScenario>& all) {
  bool all_judged = true;
  for (const ValidatedScenario& one : all) {
    if (!one.result || one.result->comparison.verdict == Verdict::fail) return Verdict::fail;
    all_judged = all_judged && one.result->comparison.times_not_judged.empty();
  }
  return all_judged ? Verdict::pass : Verdict::not_judged;
}

int exit_code_of(const std::vector<ValidatedScenario>& all) {
  for (const ValidatedScenario& one : all) {
    if (!one.result) return exit_code(one.result.error().kind);
  }
  const Verdict verdict = verdict_over(all);
  if (verdict == Verdict::pass) return k_exit_good;
  return verdict == Verdict::fail ? k_exit_verdict_not_met : k_exit_not_judged;
}

std::string validations_table(const std::vector<ValidatedScenario>& all, const TextStyle& style) {
  TextTable table({{"scenario", Align::left, true, 12},
                   {"step predicted"},
                   {"measured"},
                   {"error"},
                   {"peak predicted"},
                   {"measured"},
                   {"error"},
                   {"verdict", Align::left, true, 12}});
  std::string failures;
  for (const ValidatedScenario& one : all) {
    std::vector<TableCell> cells{one.name};
    if (one.result) {
      add_metric(cells, one.result->comparison, "step_time");
      add_metric(cells, one.result->comparison, "peak_allocated");
      const Verdict verdict = one.result->comparison.verdict;
      cells.emplace_back(std::string(to_string(verdict)), tone_of(verdict));
    } else {
      cells.insert(cells.end(), 6, "-");
      cells.emplace_back("failed", Tone::bad);
      failures += fmt::format("{} failed: {}\n", one.name, to_string(one.result.error()));
      if (one.diagnosis) failures += diagnosis_text(*one.diagnosis) + "\n";
    }
    table.add(std::move(cells));
  }
  return table.text(style) + (failures.empty() ? "" : "\n" + failures);
}

Json validations_json(const std::vector<ValidatedScenario>& all) {
  if (all.size() == 1) return validation_json(*all.front().result);
  Json scenarios = Json::array();
  for (const ValidatedScenario& one : all) {
    if (one.result) {
      scenarios.push_back(validation_json(*one.result));
    } else {
      scenarios.push_back({{"scenario", one.name}, {"error", Json::parse(error_json(one.result.error()))}});
      if (one.diagnosis) scenarios.back()["doctor"] = diagnosis_json(*one.diagnosis);
    }
  }
  return {{"scenarios", std::move(scenarios)}, {"verdict", to_string(verdict_over(all))}};
}

}  // namespace shardlab
