#include <algorithm>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/trace/metrics.h"
#include "simulator/memory/fit_likelihood.h"
#include "simulator/search/question/question_reader.h"

namespace shardlab {
namespace {

std::optional<double> metric_value(const YamlNode& node, const std::string& name, MetricUnit unit,
                                   QuestionReader& reader) {
  const auto read = [&](const auto& value, auto number) -> std::optional<double> {
    if (value) return number(*value);
    reader.refuse(node.place, name, value.error().what, value.error().hint);
    return std::nullopt;
  };
  const std::string& text = node.text;
  switch (unit) {
    case MetricUnit::nanoseconds:
      return read(parse_duration(text), [](Nanoseconds time) { return static_cast<double>(time.value); });
    case MetricUnit::bytes:
      return read(parse_bytes(text), [](Bytes bytes) { return static_cast<double>(bytes.value); });
    case MetricUnit::fraction: return read(parse_fraction(text), [](double value) { return value; });
    case MetricUnit::tokens_per_second: return read(parse_number(text), [](double value) { return value; });
  }
  return std::nullopt;
}

// The unit of a metric that a prediction has: the metrics of a run with nothing in it, all of them listed.
std::optional<MetricUnit> unit_of(const std::string& metric) {
  const std::vector<Metric> metrics = summary_metrics({}, {}, {{metric, 0}});
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [&](const Metric& each) { return each.name == metric; });
  return found == metrics.end() ? std::nullopt : std::optional(found->unit);
}

void read_metric(const YamlEntry& entry, Needs& needs, QuestionReader& reader) {
  const std::string name = "need." + entry.key;
  MetricNeed need;
  need.metric = entry.key;
  const auto unit = unit_of(entry.key);
  if (!unit) {
    std::vector<std::string> known = metric_names();
    known.insert(known.end(), {"fit_probability", "gpus", "hours", "dollars", "dollars_per_hour"});
    reader.refuse(entry.place, "need", "no figure of a run is called '" + entry.key + "'",
                  suggestion(entry.key, known));
    return;
  }
  need.unit = *unit;
  const YamlNode* const least = entry.value.find("least");
  const YamlNode* const most = entry.value.find("most");
  if (!entry.value.is_map() || (least == nullptr && most == nullptr)) {
    reader.refuse(entry.value.place, name, "say which way it is bound",
                  "for example {least: 40%} or {most: 1.5s}");
    return;
  }
  reader.is_section(entry.value, name, {"least", "most"});
  if (least != nullptr) need.least = metric_value(*least, name, need.unit, reader);
  if (most != nullptr) need.most = metric_value(*most, name, need.unit, reader);
  if (need.least && need.most && *need.least > *need.most)
    reader.refuse(entry.value.place, name,
                  fmt::format("at least {} and at most {} contradict each other", least->text, most->text));
  needs.metrics.push_back(need);
}

// A number alone, or {most: number}.
const YamlNode& most_of(const YamlNode& node) {
  const YamlNode* const most = node.find("most");
  return most != nullptr && node.entries.size() == 1 ? *most : node;
}

}  // namespace

Needs read_needs(const YamlNode& need, QuestionReader& reader) {
  Needs needs;
  if (!need.is_map()) {
    reader.refuse(need.place, "need", "expected a map of figures and their bounds");
    return needs;
  }
  const YamlNode* const probability = need.find("fit_probability");
  const YamlNode* const gpus = need.find("gpus");
  const YamlNode* const hours = need.find("hours");
  const YamlNode* const dollars = need.find("dollars");
  const YamlNode* const hourly = need.find("dollars_per_hour");
  if (probability != nullptr) {
    const auto value = probability->is_scalar() ? parse_fraction(probability->text) : Result<double>(0);
    if (!value || *value <= 0 || *value > 1)
      reader.refuse(probability->place, "need.fit_probability", "expected more than 0 and at most 1",
                    "for example 95%");
    else if (*value > k_surest)
      reader.refuse(probability->place, "need.fit_probability",
                    fmt::format("no prediction is surer than {:g} %", k_surest * 100), "for example 99%");
    else
      needs.fit_probability = *value;
  }
  if (gpus != nullptr) needs.gpus = reader.integer(most_of(*gpus), "need.gpus", 1);
  if (hours != nullptr) needs.hours = reader.number(most_of(*hours), "need.hours", 0);
  if (dollars != nullptr) needs.dollars = reader.number(most_of(*dollars), "need.dollars", 0);
  if (hourly != nullptr) needs.dollars_per_hour = reader.number(most_of(*hourly), "need.dollars_per_hour", 0);
  for (const YamlEntry& entry : need.entries) {
    const YamlNode* const own[] = {probability, gpus, hours, dollars, hourly};
    if (std::find(std::begin(own), std::end(own), &entry.value) == std::end(own))
      read_metric(entry, needs, reader);
  }
  return needs;
}

}  // namespace shardlab
