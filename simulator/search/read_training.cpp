#include <fmt/format.h>

#include "simulator/search/question_reader.h"

namespace shardlab {

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
