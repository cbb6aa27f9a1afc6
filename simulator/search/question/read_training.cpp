#include <fmt/format.h>

#include "simulator/search/question/question_reader.h"

namespace shardlab {
namespace {

std::optional<Failures> read_failures(const YamlNode& node, QuestionReader& reader) {
  const auto rate = read_rate(node, "train.failures", {"checkpoint", "downtime", "recovery"}, reader);
  if (!rate) return std::nullopt;
  Failures failures;
  failures.rate = *rate;
  const auto time = [&](std::string_view key) {
    const std::string name = fmt::format("train.failures.{}", key);
    const YamlNode* const given = node.find(key);
    if (given == nullptr) {
      reader.refuse(node.place, name, "is required", "how long it takes, for example 2min");
      return Nanoseconds{};
    }
    return reader.duration(*given, name).value_or(Nanoseconds{});
  };
  failures.checkpoint = time("checkpoint");
  failures.downtime = time("downtime");
  failures.recovery = time("recovery");
  if (failures.checkpoint.value <= 0 && node.find("checkpoint") != nullptr)
    reader.refuse(node.find("checkpoint")->place, "train.failures.checkpoint", "takes more than no time");
  return failures;
}

std::optional<Evaluation> read_evaluation(const YamlNode& node, QuestionReader& reader) {
  if (!reader.is_section(node, "train.evaluation", {"every", "batches"})) return std::nullopt;
  const YamlNode* const every = node.find("every");
  const YamlNode* const batches = node.find("batches");
  if (every == nullptr || batches == nullptr) {
    reader.refuse(node.place, "train.evaluation",
                  "after how many steps, and how many micro-batches of every rank?",
                  "for example {every: 1000, batches: 50}");
    return std::nullopt;
  }
  return Evaluation{reader.integer(*every, "train.evaluation.every", 1).value_or(1),
                    reader.integer(*batches, "train.evaluation.batches", 1).value_or(1)};
}

Energy read_energy(const YamlNode& node, QuestionReader& reader) {
  Energy energy;
  if (!reader.is_section(node, "train.energy", {"price", "overhead", "date", "source"})) return energy;
  if (const YamlNode* const overhead = node.find("overhead"))
    energy.overhead = reader.number(*overhead, "train.energy.overhead", 1).value_or(energy.overhead);
  energy.date = reader.text(node, "date", "train.energy.date");
  energy.source = reader.text(node, "source", "train.energy.source");
  const YamlNode* const price = node.find("price");
  if (price == nullptr) return energy;
  energy.price = reader.number(*price, "train.energy.price", 0);
  if (energy.date.empty() || energy.source.empty())
    reader.refuse(price->place, "train.energy.price", "a price needs its date and its source",
                  "date: 2026-11-01, source: where it was read");
  return energy;
}

}  // namespace

std::optional<EventRate> read_rate(const YamlNode& node, const std::string& name,
                                   const std::vector<std::string>& also, QuestionReader& reader) {
  std::vector<std::string> keys = {"count", "gpu_days", "node_days", "source"};
  keys.insert(keys.end(), also.begin(), also.end());
  if (!reader.is_section(node, name, keys)) return std::nullopt;
  const YamlNode* const gpu_days = node.find("gpu_days");
  const YamlNode* const node_days = node.find("node_days");
  const YamlNode* const count = node.find("count");
  EventRate rate;
  rate.source = reader.text(node, "source", name + ".source");
  if (count == nullptr || (gpu_days == nullptr) == (node_days == nullptr) || rate.source.empty()) {
    reader.refuse(node.place, name, "a rate is a count, in how many gpu_days or node_days, and its source",
                  "for example {count: 6.5, node_days: 1000, source: arXiv 2410.21680, ...}");
    return std::nullopt;
  }
  rate.of_nodes = node_days != nullptr;
  rate.count = reader.number(*count, name + ".count", 0).value_or(0);
  rate.days = reader.number(rate.of_nodes ? *node_days : *gpu_days, name, 1e-9).value_or(1);
  return rate;
}

Training read_training(const YamlNode& train, QuestionReader& reader) {
  Training training;
  if (!reader.is_section(train, "train", {"tokens", "failures", "evaluation", "energy"})) return training;
  if (const YamlNode* const tokens = train.find("tokens"))
    training.tokens = reader.integer(*tokens, "train.tokens", 1);
  if (const YamlNode* const node = train.find("failures")) training.failures = read_failures(*node, reader);
  if (const YamlNode* const node = train.find("evaluation"))
    training.evaluation = read_evaluation(*node, reader);
  if (const YamlNode* const node = train.find("energy")) training.energy = read_energy(*node, reader);
  return training;
}

}  // namespace shardlab
