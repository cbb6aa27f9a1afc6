// The parts of a search file that say what is offered, what must hold and what is trained.
#include <algorithm>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/hardware/node.h"
#include "engine/trace/metrics.h"
#include "simulator/search/question_reader.h"

namespace shardlab {
namespace {

constexpr int k_most_nodes = 100'000;

// One count, a list, or all from the least to the most.
std::vector<int> read_counts(const YamlNode& node, QuestionReader& reader) {
  const std::string name = "offers.nodes";
  std::vector<int> counts;
  const auto add = [&](const YamlNode& item) {
    const auto count = reader.integer(item, name, 1);
    if (count && *count > k_most_nodes) reader.refuse(item.place, name, "more than 100000 nodes");
    if (count && *count <= k_most_nodes) counts.push_back(static_cast<int>(*count));
  };
  if (node.is_map()) {
    const YamlNode* const least = node.find("least");
    const YamlNode* const most = node.find("most");
    if (!reader.is_section(node, name, {"least", "most"})) return {};
    if (most == nullptr) {
      reader.refuse(node.place, name, "needs the most nodes that can be had",
                    "for example {least: 1, most: 8}");
      return {};
    }
    if (least != nullptr)
      add(*least);
    else
      counts.push_back(1);
    add(*most);
    if (counts.size() < 2) return {};
    const int first = counts[0], last = counts[1];
    if (last < first)
      reader.refuse(node.place, name,
                    fmt::format("at least {} and at most {} contradict each other", first, last));
    counts.clear();
    for (int i = first; i <= last; ++i) counts.push_back(i);
    return counts;
  }
  if (node.is_sequence()) {
    if (node.items.empty()) reader.refuse(node.place, name, "an empty list: nothing can be rented");
    for (const YamlNode& item : node.items) add(item);
  } else {
    add(node);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

Offer read_offer(const YamlNode& node, QuestionReader& reader) {
  Offer offer;
  if (!reader.is_section(node, "offers", {"node", "nodes", "price", "date", "source"})) return offer;
  offer.node = reader.text(node, "node", "offers.node");
  const YamlNode* const name = node.find("node");
  if (name == nullptr) {
    reader.refuse(node.place, "offers", "an offer names its node", "`shardlab hardware` lists nodes");
  } else if (const auto known = find_node(offer.node); known) {
    offer.node = known->name;
  } else if (!offer.node.empty()) {
    reader.refuse(name->place, "offers.node", known.error().what, known.error().hint);
  }
  offer.nodes = {1};
  if (const YamlNode* const nodes = node.find("nodes")) offer.nodes = read_counts(*nodes, reader);
  if (const YamlNode* const price = node.find("price"))
    offer.price = reader.number(*price, "offers.price", 0);
  offer.date = reader.text(node, "date", "offers.date");
  offer.source = reader.text(node, "source", "offers.source");
  if (offer.price && (offer.date.empty() || offer.source.empty()))
    reader.refuse(node.find("price")->place, "offers.price", "a price needs its date and its source",
                  "date: 2026-11-01, source: where it was read");
  return offer;
}

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
    known.insert(known.end(), {"fit_probability", "gpus", "hours", "dollars"});
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

std::vector<Offer> read_offers(const YamlNode& offers, QuestionReader& reader) {
  std::vector<Offer> read;
  if (!offers.is_sequence() || offers.items.empty()) {
    reader.refuse(offers.place, "offers", "expected a list of what can be rented",
                  "- {node: hgx-h100, nodes: {most: 8}, price: 98.32, date: ..., source: ...}");
    return read;
  }
  for (const YamlNode& item : offers.items) read.push_back(read_offer(item, reader));
  return read;
}

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
  if (probability != nullptr) {
    const auto value = probability->is_scalar() ? parse_fraction(probability->text) : Result<double>(0);
    if (!value || *value <= 0 || *value > 1)
      reader.refuse(probability->place, "need.fit_probability", "expected more than 0 and at most 1",
                    "for example 95%");
    else
      needs.fit_probability = *value;
  }
  if (gpus != nullptr) needs.gpus = reader.integer(most_of(*gpus), "need.gpus", 1);
  if (hours != nullptr) needs.hours = reader.number(most_of(*hours), "need.hours", 0);
  if (dollars != nullptr) needs.dollars = reader.number(most_of(*dollars), "need.dollars", 0);
  for (const YamlEntry& entry : need.entries) {
    const YamlNode* const own[] = {probability, gpus, hours, dollars};
    if (std::find(std::begin(own), std::end(own), &entry.value) == std::end(own))
      read_metric(entry, needs, reader);
  }
  return needs;
}

Training read_training(const YamlNode& train, QuestionReader& reader) {
  Training training;
  if (!reader.is_section(train, "train", {"tokens", "failures"})) return training;
  if (const YamlNode* const tokens = train.find("tokens")) {
    training.tokens = reader.integer(*tokens, "train.tokens", 1);
  }
  const YamlNode* const node = train.find("failures");
  if (node == nullptr) return training;
  const std::vector<std::string> keys = {"count",      "gpu_days", "node_days", "source",
                                         "checkpoint", "downtime", "recovery"};
  if (!reader.is_section(*node, "train.failures", keys)) return training;
  Failures failures;
  const YamlNode* const gpu_days = node->find("gpu_days");
  const YamlNode* const node_days = node->find("node_days");
  const YamlNode* const count = node->find("count");
  failures.source = reader.text(*node, "source", "train.failures.source");
  if (count == nullptr || (gpu_days == nullptr) == (node_days == nullptr) || failures.source.empty()) {
    reader.refuse(node->place, "train.failures",
                  "a rate is a count, in how many gpu_days or node_days, and its source",
                  "for example {count: 6.5, node_days: 1000, source: arXiv 2410.21680, ...}");
    return training;
  }
  failures.of_nodes = node_days != nullptr;
  failures.count = reader.number(*count, "train.failures.count", 0).value_or(0);
  failures.days =
      reader.number(failures.of_nodes ? *node_days : *gpu_days, "train.failures", 1e-9).value_or(1);
  const auto time = [&](std::string_view key) {
    const std::string name = fmt::format("train.failures.{}", key);
    const YamlNode* const given = node->find(key);
    if (given == nullptr) {
      reader.refuse(node->place, name, "is required", "how long it takes, for example 2min");
      return Nanoseconds{};
    }
    const Nanoseconds read = reader.duration(*given, name).value_or(Nanoseconds{});
    return read;
  };
  failures.checkpoint = time("checkpoint");
  failures.downtime = time("downtime");
  failures.recovery = time("recovery");
  if (failures.checkpoint.value <= 0 && node->find("checkpoint") != nullptr)
    reader.refuse(node->find("checkpoint")->place, "train.failures.checkpoint", "takes more than no time");
  training.failures = failures;
  return training;
}

}  // namespace shardlab
