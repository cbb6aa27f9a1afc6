// Low-rank adapters as a scenario asks for them (`model.lora`), by the names of peft's LoraConfig.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardlab {

// Among the targets: the layers that peft chooses for a model of this type where its LoraConfig names none.
inline constexpr std::string_view k_peft_default = "peft-default";

struct LoraSpec {
  int rank = 0;  // 0: no adapters
  double alpha = 8;
  double dropout = 0;
  std::vector<std::string> targets;
  std::vector<std::string> modules_to_save;
  friend bool operator==(const LoraSpec&, const LoraSpec&) = default;
};

}  // namespace shardlab
