// The `model` section of a scenario.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/model/lora/lora_spec.h"

namespace shardlab {

struct LossSpec {
  std::string kind = "plain";  // plain chunked
  int chunks = 1;
  std::string over = "tokens";  // tokens vocabulary
  friend bool operator==(const LossSpec&, const LossSpec&) = default;
};

struct MoeSpec {
  std::string load = "balanced";  // balanced measured worst, or a distribution as text
  std::string measured;           // the file that a real run wrote
  std::optional<double> capacity;
  std::optional<double> auxiliary_loss;
  friend bool operator==(const MoeSpec&, const MoeSpec&) = default;
};

struct ModelSpec {
  std::string config;   // name in assets/models or path of a Hugging Face config.json
  std::string weights;  // path of safetensors; empty: from the seed
  DType dtype = DType::float32;
  std::int64_t sequence_length = 0;
  std::string implementation = "fused";  // fused eager
  std::string attention = "auto";        // flash efficient math auto
  LossSpec loss;
  double dropout = 0;
  std::map<std::string, std::string> overrides;  // fields of config.json, values as JSON text
  std::vector<std::string> frozen;               // path patterns
  LoraSpec lora;
  MoeSpec moe;
  std::string compile = "none";    // none blocks whole
  std::string fp8 = "none";        // none tensorwise rowwise
  std::string quantized = "none";  // none nf4 int8
  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

}  // namespace shardlab
