// Low-rank adapters as a scenario asks for them (`model.lora`), by the names of peft's LoraConfig.
#pragma once

#include <string>
#include <vector>

namespace shardlab {

struct LoraSpec {
  int rank = 0;  // 0: no adapters
  double alpha = 8;
  double dropout = 0;
  std::vector<std::string> targets;
  std::vector<std::string> modules_to_save;
  friend bool operator==(const LoraSpec&, const LoraSpec&) = default;
};

}  // namespace shardlab
