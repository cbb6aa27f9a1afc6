// The small models of every family (tests/data/families) as scenarios that training tests vary.
#pragma once

#include <algorithm>
#include <filesystem>
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

}  // namespace shardlab::test
