#include "engine/model/families/family.h"
#include "engine/report/tables.h"
#include "tests/catch.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

// Two layers of width 8 with two heads of four, one of them for keys and values; 16 tokens known.
ModelGraph small_llama(const char* tied) {
  const std::string text =
      std::string(
          R"({"model_type": "llama", "hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 16,
    "max_position_embeddings": 64, "tie_word_embeddings": )") +
      tied + "}";
  const auto config = ModelConfig::parse(text, "config.json", {});
  REQUIRE_OK(config);
  GraphOptions options;
  options.micro_batch = 2;
  options.sequence_length = 4;
  auto graph = build_model_graph(*config, options);
  REQUIRE_OK(graph);
  return *std::move(graph);
}

}  // namespace

TEST_CASE("the summary of a model folds layers that are alike") {
  // A layer: attention 8x8 + 4x8 + 4x8 + 8x8, products 3 x 16x8, two norms of 8: 192 + 384 + 16 = 592.
  // The model: 2 x 592 + embedding 128 + norm 8 + head 128 = 1448.
  const std::string text = model_summary(small_llama("false"), {});
  const std::size_t operators = text.find("operators of");
  CHECK(text.substr(0, operators) ==
        R"(llama: 1,448 parameters, 2 layers of 592, vocabulary 16

module                            class                 parameters  shape
(the model)                       LlamaForCausalLM           1,448
  model                           LlamaModel                 1,320
    embed_tokens                  Embedding                    128
      weight                      float32                      128  [16, 8]
    layers                        ModuleList                 1,184
      0..1                        LlamaDecoderLayer        2 x 592
        self_attn                 LlamaAttention               192
          q_proj                  Linear                        64
            weight                float32                       64  [8, 8]
          k_proj                  Linear                        32
            weight                float32                       32  [4, 8]
          v_proj                  Linear                        32
            weight                float32                       32  [4, 8]
          o_proj                  Linear                        64
            weight                float32                       64  [8, 8]
        mlp                       LlamaMLP                     384
          gate_proj               Linear                       128
            weight                float32                      128  [16, 8]
          up_proj                 Linear                       128
            weight                float32                      128  [16, 8]
          down_proj               Linear                       128
            weight                float32                      128  [8, 16]
          act_fn                  SiLUActivation
        input_layernorm           LlamaRMSNorm                   8
          weight                  float32                        8  [8]
        post_attention_layernorm  LlamaRMSNorm                   8
          weight                  float32                        8  [8]
    norm                          LlamaRMSNorm                   8
      weight                      float32                        8  [8]
    rotary_emb                    LlamaRotaryEmbedding
  lm_head                         Linear                       128
    weight                        float32                      128  [16, 8]

)");
  REQUIRE(operators != std::string::npos);
  CHECK_THAT(
      text,
      contains_text("operators of model.layers.0 (LlamaDecoderLayer), micro-batch 2 x 4 tokens, float32\n"));
  // 2 x 4 rows of 8 times 8 x 8: 2 * 8 * 8 * 8 = 1024 forward, twice that backward; reads 256 + 256, writes
  // 256; keeps its input.
  CHECK_THAT(
      text, contains_text("linear     self_attn.q_proj          1024 FLOP  2048 FLOP     768 B     256 B\n"));
  // Embedding, last norm, head and loss.
  const std::size_t outside = text.find("operators outside the layers\n");
  REQUIRE(outside != std::string::npos);
  for (const char* name : {"embedding ", "rms_norm ", "linear ", "cross_entropy "})
    CHECK(text.find(name, outside) != std::string::npos);
  CHECK(text.find("swiglu", outside) == std::string::npos);
}

TEST_CASE("a tied parameter is counted once") {
  const std::string text = model_summary(small_llama("true"), {});
  CHECK_THAT(text, contains_text("llama: 1,320 parameters"));
  CHECK_THAT(text, contains_text("tied"));
}
