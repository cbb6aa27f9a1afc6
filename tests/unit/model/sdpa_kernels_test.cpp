#include "engine/model/sdpa_kernels.h"

#include <algorithm>

#include "engine/model/families/family.h"
#include "engine/model/operators/operator_list.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

bool fused(int capability, DType dtype, std::int64_t width, bool grouped) {
  return has_fused_kernel(capability, {dtype, width, grouped});
}

std::int64_t attentions(const char* family, DType dtype, int capability, const OperatorType& type) {
  const auto config = ModelConfig::read(test::data_file(std::string("families/") + family + ".json"), {});
  REQUIRE_OK(config);
  GraphOptions options{1, 24, dtype, dtype};
  options.implementation = Implementation::eager;
  auto graph = build_model_graph(*config, options);
  REQUIRE_OK(graph);
  choose_sdpa_kernels(*graph, capability);
  return std::count_if(graph->operators.begin(), graph->operators.end(),
                       [&](const Operator& op) { return op.type == &type; });
}

}  // namespace

TEST_CASE("attention becomes what the device runs") {
  CHECK(attentions("llama", DType::float32, 90, k_eager_math_attention) == 2);
  CHECK(attentions("llama", DType::bfloat16, 90, k_eager_math_attention) == 0);
  CHECK(attentions("llama", DType::bfloat16, 90, k_attention) == 2);
  CHECK(attentions("llama", DType::float32, 0, k_attention) == 2);
}

TEST_CASE("an output that lies as queries of two parts is copied, but for the memory-efficient kernel") {
  CHECK(attentions("phi", DType::bfloat16, 80, k_eager_copied_attention) == 2);
  CHECK(attentions("phi", DType::float32, 80, k_eager_copied_attention) == 0);
  CHECK(attentions("phi", DType::bfloat16, 0, k_eager_copied_attention) == 0);
}

TEST_CASE("float32 has no kernel where query heads share a key head") {
  for (const int capability : {70, 80, 89, 90, 100, 120}) {
    CHECK(fused(capability, DType::float32, 128, false));
    CHECK_FALSE(fused(capability, DType::float32, 128, true));
  }
}

TEST_CASE("16-bit attention has a kernel from Ampere on, before it only float16 with a key head each") {
  CHECK(fused(80, DType::bfloat16, 128, true));
  CHECK(fused(90, DType::float16, 80, true));
  CHECK(fused(70, DType::float16, 64, false));
  CHECK_FALSE(fused(70, DType::float16, 64, true));
  CHECK_FALSE(fused(75, DType::bfloat16, 64, false));
}

TEST_CASE("wide heads and those that loads do not divide") {
  CHECK(fused(80, DType::bfloat16, 256, true));
  CHECK_FALSE(fused(80, DType::bfloat16, 264, true));
  CHECK(fused(80, DType::bfloat16, 264, false));
  CHECK_FALSE(fused(89, DType::bfloat16, 224, true));
  CHECK(fused(89, DType::bfloat16, 256, true));
  CHECK(fused(90, DType::bfloat16, 224, true));
  CHECK(fused(80, DType::bfloat16, 20, true));  // flash attention pads
  CHECK_FALSE(fused(80, DType::float32, 18, false));
  CHECK(fused(70, DType::float32, 18, false));
}

}  // namespace shardlab
