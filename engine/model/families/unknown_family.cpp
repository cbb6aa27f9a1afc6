#include "engine/model/families/unknown_family.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/nearest.h"

namespace shardlab {
namespace {

// Decoders that transformers 5.23 has and that are not built: none of them is a slip of the pen.
constexpr std::string_view k_not_built[] = {"afmoe",
                                            "apertus",
                                            "arcee",
                                            "bloom",
                                            "codegen",
                                            "cohere",
                                            "cohere2",
                                            "dbrx",
                                            "deepseek_v2",
                                            "deepseek_v3",
                                            "ernie4_5",
                                            "exaone4",
                                            "falcon_h1",
                                            "falcon_mamba",
                                            "gemma3",
                                            "gemma3_text",
                                            "gemma3n",
                                            "glm",
                                            "glm4",
                                            "glm4_moe",
                                            "gpt_bigcode",
                                            "gpt_neo",
                                            "gpt_neox",
                                            "gpt_oss",
                                            "gptj",
                                            "granite",
                                            "granitemoe",
                                            "helium",
                                            "hunyuan_v1_dense",
                                            "jamba",
                                            "lfm2",
                                            "llama4",
                                            "llama4_text",
                                            "mamba",
                                            "mamba2",
                                            "minimax",
                                            "ministral",
                                            "ministral3",
                                            "mistral3",
                                            "nemotron",
                                            "olmo",
                                            "olmo2",
                                            "olmo3",
                                            "olmoe",
                                            "opt",
                                            "persimmon",
                                            "phi3",
                                            "phimoe",
                                            "qwen2_moe",
                                            "qwen2_vl",
                                            "qwen2_5_vl",
                                            "qwen3_5",
                                            "qwen3_5_moe",
                                            "qwen3_next",
                                            "qwen3_vl",
                                            "seed_oss",
                                            "stablelm",
                                            "starcoder2",
                                            "xglm"};

}  // namespace

tl::unexpected<Error> unknown_family(const ModelConfig& config, const std::string& type,
                                     const std::vector<std::string>& known) {
  if (std::find(std::begin(k_not_built), std::end(k_not_built), type) == std::end(k_not_built))
    return bad_input(in_file(config.file()), "model_type: unknown family '" + type + "'",
                     suggestion(type, known));
  return bad_input(
      in_file(config.file()), fmt::format("model_type: the family {} is not built", type),
      fmt::format("built are {}; docs/extending.md says how one is added", fmt::join(known, ", ")));
}

}  // namespace shardlab
