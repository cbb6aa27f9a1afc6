// Model families: each turns a config.json into a ModelGraph.
//
// To add one: a file in this folder, or a function among the relatives of Llama, and a line in registry.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/graph_builder.h"
#include "engine/model/model_config.h"

namespace shardlab {

using BuildFamilyFunction = Result<ModelGraph> (*)(const ModelConfig& config, const GraphOptions& options);

struct Family {
  std::string_view model_type;  // of config.json
  BuildFamilyFunction build;
  std::string_view adapted;  // the linear layers of attention, to which low-rank adapters are usually put
  // Those to which peft puts them where nobody names any; empty: it refuses. Source: peft 0.21.2,
  // utils/constants.py (TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING).
  std::vector<std::string> adapted_unasked;
};

const std::vector<Family>& families();

// The family that `model_type` names; null where there is none.
const Family* find_family(const ModelConfig& config);
const Family* find_family(std::string_view model_type);

// Builds the graph with the family that `model_type` names; an unknown one is refused with the known names.
Result<ModelGraph> build_model_graph(const ModelConfig& config, const GraphOptions& options);

Result<ModelGraph> build_falcon(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_gemma(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_gemma2(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_gpt2(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_llama(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_mistral(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_mixtral(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_mpt(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_phi(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_qwen2(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_qwen3(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_qwen3_moe(const ModelConfig& config, const GraphOptions& options);
Result<ModelGraph> build_smollm3(const ModelConfig& config, const GraphOptions& options);

}  // namespace shardlab
