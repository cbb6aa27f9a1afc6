#include "engine/model/sdpa_kernels.h"

#include <algorithm>

#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_widest_flash_head = 256;
constexpr int k_tensor_cores = 70;  // of 16-bit numbers
constexpr int k_ampere = 80;        // bfloat16, and tensor cores for float32

bool flash_takes(int capability, const AttentionHeads& heads) {
  if (heads.dtype == DType::float32 || capability < k_ampere || heads.width > k_widest_flash_head)
    return false;
  const bool narrow_backward = capability == 86 || capability == 89 || capability / 10 == 12;
  return !narrow_backward || heads.width <= 192 || heads.width > 224;
}

// Elements of a head that a load reads (minimum_gemm_alignment).
std::int64_t efficient_alignment(int capability, DType dtype) {
  const bool half = dtype != DType::float32;
  const bool tensor_cores = capability >= k_ampere || (half && capability >= k_tensor_cores);
  const std::int64_t least = capability >= k_ampere ? 4 : 1;
  return tensor_cores ? std::max<std::int64_t>(least, half ? 8 : 4) : least;
}

bool efficient_takes(int capability, const AttentionHeads& heads) {
  if (heads.grouped || (heads.dtype == DType::bfloat16 && capability < k_ampere)) return false;
  return heads.width % efficient_alignment(capability, heads.dtype) == 0;
}

// The operator that makes the queries runs shortly before: looked for from the reader backwards, all layers
// take one pass over the model together.
const Operator* maker_of(const ModelGraph& graph, TensorId tensor, std::size_t reader) {
  for (std::size_t i = reader; i-- > 0;) {
    const auto& outputs = graph.operators[i].outputs;
    if (std::find(outputs.begin(), outputs.end(), tensor) != outputs.end()) return &graph.operators[i];
  }
  return nullptr;
}

// Where only a part of each head is turned, torch.cat puts it together with the rest, in order of heads.
bool lies_by_head(const ModelGraph& graph, std::size_t attention) {
  const Operator* const made = maker_of(graph, graph.operators[attention].inputs[0], attention);
  return made != nullptr && made->type == &k_eager_rope &&
         graph.tensor(made->inputs[1]).shape[2] < made->attributes.get(attribute::k_head_dim);
}

bool choose_kernel(ModelGraph& graph, std::size_t attention, int capability) {
  Operator& op = graph.operators[attention];
  const Attributes& attributes = op.attributes;
  const AttentionHeads heads{graph.tensor(op.inputs[0]).dtype, attributes.get(attribute::k_head_dim),
                             attributes.get(attribute::k_kv_heads) < attributes.get(attribute::k_heads)};
  if (!has_fused_kernel(capability, heads))
    op.type = &k_eager_math_attention;
  else if (flash_takes(capability, heads) && lies_by_head(graph, attention))
    op.type = &k_eager_copied_attention;
  return op.type != &k_attention;
}

}  // namespace

bool has_fused_kernel(int capability, const AttentionHeads& heads) {
  return flash_takes(capability, heads) || efficient_takes(capability, heads);
}

bool choose_sdpa_kernels(ModelGraph& graph, int capability) {
  bool changed = false;
  if (capability == 0) return changed;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.type == &k_attention && op.inputs.size() == 3) changed |= choose_kernel(graph, i, capability);
  }
  return changed;
}

}  // namespace shardlab
