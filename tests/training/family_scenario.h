// The small models of every family (tests/data/families), and variants of them (tests/data/model_variants),
// as scenarios that training tests vary.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/paths.h"

namespace shardlab::test {

inline std::vector<std::string> family_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(data_file("families"))) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Two sequences a rank's micro-batch on one rank, one on two, of a text whose bytes are tokens.
inline std::string family_scenario(const std::string& config) {
  return "name: family\n"
         "model: {config: '" +
         config +
         "', sequence_length: 24}\n"
         "cluster: {device: cpu, ranks: 1, threads_per_rank: 1}\n"
         "parallel: {strategy: none}\n"
         "train: {micro_batch: 4, learning_rate: 0.05, optimizer: sgd, weight_decay: 0, data: "
         "assets/data/licenses.txt}\n"
         "measure: {warmup_steps: 0, steps: 3}\n";
}

struct FamilyCase {
  std::string name;
  std::string scenario;
  std::vector<std::string> overrides;
  bool by_micro_batch = false;  // the loss is not a mean over sequences: it depends on which run together
};

// JSON is YAML.
inline FamilyCase read_variant(const std::filesystem::path& file) {
  std::ifstream stream(file);
  const nlohmann::json variant = nlohmann::json::parse(stream);
  const std::string family = variant.at("family");
  FamilyCase made{
      file.stem().string(), family_scenario(data_file("families/" + family + ".json").string()), {}};
  const nlohmann::json fields = variant.value("overrides", nlohmann::json::object());
  if (!fields.empty()) made.overrides.push_back("model.overrides=" + fields.dump());
  made.by_micro_batch = fields.value("output_router_logits", false);
  const nlohmann::json model = variant.value("model", nlohmann::json::object());
  for (const auto& [key, value] : model.items())
    made.overrides.push_back("model." + key + "=" + value.dump());
  return made;
}

inline std::vector<FamilyCase> family_cases() {
  std::vector<FamilyCase> cases;
  for (const std::string& file : family_files())
    cases.push_back({std::filesystem::path(file).stem().string(), family_scenario(file), {}});
  std::vector<std::filesystem::path> variants;
  for (const auto& entry : std::filesystem::directory_iterator(data_file("model_variants"))) {
    if (entry.path().extension() == ".json") variants.push_back(entry.path());
  }
  std::sort(variants.begin(), variants.end());
  for (const auto& file : variants) cases.push_back(read_variant(file));
  return cases;
}

}  // namespace shardlab::test
