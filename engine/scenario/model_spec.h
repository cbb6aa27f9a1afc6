// The `model` section of a scenario.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/model/choices.h"
#include "engine/model/lora/lora_spec.h"
#include "engine/scenario/model_words.h"

namespace shardlab {

struct LossSpec {
  LossKind kind = LossKind::plain;
  int chunks = 1;
  LossChunks over = LossChunks::of_tokens;
  bool fused = false;                      // with eager operators too
  bool compiled = false;                   // likewise; with compile: whole it is anyway
  bool upcast = true;                      // with eager operators: logits become float32 before it
  LossShift shift = LossShift::of_labels;  // likewise
  std::optional<LossPlace> place{};    // absent: inside, unless the root gives its parameters back in between
  std::optional<DType> held_logits{};  // absent: nobody holds them while backward runs
  friend bool operator==(const LossSpec&, const LossSpec&) = default;
};

struct MoeLoad {
  MoeLoadKind kind = MoeLoadKind::balanced;
  std::vector<double> shares{};  // listed: of each expert, as the scenario gives them
  friend bool operator==(const MoeLoad&, const MoeLoad&) = default;
};

struct MoeSpec {
  MoeLoad load;
  std::string measured;  // the file that a real run wrote
  std::optional<double> capacity;
  std::optional<double> auxiliary_loss;
  friend bool operator==(const MoeSpec&, const MoeSpec&) = default;
};

struct ModelSpec {
  std::string config;   // name in assets/models or of the Hub, or path of a Hugging Face config.json
  std::string weights;  // path of safetensors; empty: from the seed
  DType dtype = DType::float32;
  std::int64_t sequence_length = 0;
  std::optional<Implementation> implementation;  // absent: as choose_implementation() says
  AttentionKind attention = AttentionKind::automatic;
  LossSpec loss;
  std::optional<double> dropout;
  std::map<std::string, std::string> overrides;  // fields of config.json, values as JSON text
  std::vector<std::string> frozen;               // path patterns
  LoraSpec lora;
  MoeSpec moe;
  CompileScope compile = CompileScope::none;
  Fp8Scaling fp8 = Fp8Scaling::none;
  Quantization quantized = Quantization::none;
  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

}  // namespace shardlab
