// Each formula by hand for Llama-3-8B: 32 layers, 4096 wide, 32 heads of which 8 for keys and values,
// networks 14336 wide, a vocabulary of 128256; 8,030,261,248 parameters, 525,336,576 of them in the embedding
// and as many in the head.
#include "engine/report/other_tools/other_tools.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_parameters = 8'030'261'248, k_embedding = 525'336'576;

ToolQuestion llama_3_8b(int stage) {
  ToolQuestion question;
  question.parameters = k_parameters;
  question.largest_module = k_embedding;
  question.base_parameters = k_parameters - k_embedding;
  question.largest_layer = k_embedding;
  question.model = {32, 128'256, 4'096, 32, 8, 14'336, 3, false};
  question.sequence_length = 4'096;
  question.micro_batch = 1;
  question.ranks = 8;
  question.shards = stage > 0 ? 8 : 1;
  question.stage = stage;
  question.compute = DType::bfloat16;
  return question;
}

}  // namespace

TEST_CASE("DeepSpeed's estimators: 18 bytes a parameter over the ranks, and what is whole") {
  CHECK(ask_deepspeed_zero2(llama_3_8b(2)).bytes == Bytes{16'060'522'496 + 18'068'087'808});
  CHECK(ask_deepspeed_zero3(llama_3_8b(3)).bytes == Bytes{2'101'346'304 + 18'068'087'808});
  CHECK_FALSE(ask_deepspeed_zero2(llama_3_8b(3)).bytes);
  CHECK_FALSE(ask_deepspeed_zero3(llama_3_8b(2)).bytes);
  CHECK_FALSE(ask_deepspeed_zero3(llama_3_8b(0)).bytes);
  ToolQuestion hybrid = llama_3_8b(3);
  hybrid.shards = 4;
  CHECK(ask_deepspeed_zero3(hybrid).formula == "shards over all ranks, this over 4 of 8");
}

TEST_CASE("accelerate: the model without its head in float32, four times with Adam") {
  ToolQuestion whole = llama_3_8b(0);
  CHECK(ask_accelerate(whole).bytes == Bytes{7'504'924'672 * 4 * 2});
  whole.compute = DType::float32;
  CHECK(ask_accelerate(whole).bytes == Bytes{7'504'924'672 * 4 * 4});
  CHECK_FALSE(ask_accelerate(llama_3_8b(3)).bytes);
  CHECK(ask_accelerate(llama_3_8b(3)).formula == "knows no sharding");
}

// 2 V h = 1,050,673,152; h s = 16,777,216; norms 8 h L + 2 h = 1,056,768; attention 2 x 1.25 x 32 h^2 =
// 1,342,177,280; networks 3 x 32 h^2 x 3.5 = 5,637,144,576: 8,047,828,992 parameters.
TEST_CASE("EleutherAI: 2 + 4 + 12 bytes a parameter, two buffers, activations with their scores") {
  constexpr std::int64_t parameters = 8'047'828'992, state = 4'096 * 4'096 * 32LL;
  constexpr std::int64_t buffers = 3'000'000'000, kept = state * (34 + 5 * 32);
  CHECK(ask_cookbook(llama_3_8b(3)).bytes == Bytes{parameters * 18 / 8 + buffers + kept});
  CHECK(ask_cookbook(llama_3_8b(2)).bytes ==
        Bytes{parameters * 2 + parameters * 16 / 8 + 1'000'000'000 + kept});
  CHECK(ask_cookbook(llama_3_8b(0)).bytes == Bytes{parameters * 18 + kept});
  ToolQuestion again = llama_3_8b(3);
  again.recomputes = true;
  CHECK(ask_cookbook(again).bytes == Bytes{parameters * 18 / 8 + buffers + state * 34});
  again.model.has_experts = true;
  CHECK_FALSE(ask_cookbook(again).bytes);
}

// The embedding counts once: 525,336,576 + 32 x 218,112,000 + 4,096 = 7,504,924,672 parameters. A layer
// keeps, of s h = 16,777,216: attention 5 x 2 + 2 x 2 + 1 bytes each and 4 x 2 x heads x s, the network 8 x
// 2, norms 2 x 4.
TEST_CASE("llm-analysis: 2 + 12 bytes a parameter, flash attention, gathered weights, no gradients") {
  constexpr std::int64_t parameters = 7'504'924'672, state = 4'096 * 4'096, logits = 4'096 * 128'256LL * 2;
  constexpr std::int64_t layer = state * (10 + 4 + 1 + 16 + 8) + 4 * 2 * 32 * 4'096;
  constexpr std::int64_t ends = state * 2 + logits + state * 4;
  constexpr std::int64_t gathered = 2 * (525'336'576 + 218'112'000);
  CHECK(ask_llm_analysis(llama_3_8b(3)).bytes == Bytes{parameters * 14 / 8 + 32 * layer + ends + gathered});
  CHECK(ask_llm_analysis(llama_3_8b(0)).bytes == Bytes{parameters * 14 + 32 * layer + ends + gathered});
  ToolQuestion again = llama_3_8b(3);
  again.recomputes = true;
  CHECK(ask_llm_analysis(again).bytes == Bytes{parameters * 14 / 8 + 32 * state * 2 + ends + gathered});
  again.compute = DType::float32;
  CHECK_FALSE(ask_llm_analysis(again).bytes);
}

}  // namespace shardlab
