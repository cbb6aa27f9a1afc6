#include "simulator/cost/probe_names.h"

#include <array>

#include "engine/model/operators/operator_list.h"
#include "engine/plan/probed_collective.h"

namespace shardlab {
namespace {

constexpr std::array<DType, 2> k_dtypes{DType::float32, DType::bfloat16};

std::int64_t number(const ProbeShape& shape, const char* name, std::int64_t fallback = 0) {
  const auto found = shape.find(name);
  return found == shape.end() ? fallback : found->second;
}

}  // namespace

std::string matmul_probe(MatmulUse use, DType dtype) {
  std::string name = "matmul.";
  name += to_string(use);
  name += '.';
  return name += to_string(dtype);
}

bool is_matmul_probe(std::string_view probe) {
  return probe.starts_with("matmul.");
}

std::optional<MatmulProbe> matmul_of_probe(std::string_view probe) {
  for (std::size_t use = 0; use < k_matmul_uses; ++use) {
    for (const DType dtype : k_dtypes) {
      if (probe == matmul_probe(static_cast<MatmulUse>(use), dtype))
        return MatmulProbe{static_cast<MatmulUse>(use), dtype};
    }
  }
  return std::nullopt;
}

std::optional<AttentionProbe> attention_of_probe(std::string_view probe) {
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    for (const DType dtype : k_dtypes) {
      if (probe == traffic_name(k_attention.name, direction, dtype)) return AttentionProbe{direction, dtype};
    }
  }
  return std::nullopt;
}

std::string collective_probe(InstructionKind kind) {
  for (const auto& [collective, name] : k_words<ProbedCollective>) {
    if (instruction_of(collective) == kind) return std::string(name);
  }
  return {};
}

std::optional<InstructionKind> collective_of_probe(std::string_view probe) {
  const auto collective = parse_word<ProbedCollective>(probe);
  return collective ? std::optional(instruction_of(*collective)) : std::nullopt;
}

MatmulShape matmul_shape(const ProbeShape& shape, DType dtype) {
  const std::int64_t m = number(shape, "m"), n = number(shape, "n"), k = number(shape, "k");
  return {m, n, k, bytes_of(m * k + k * n + m * n, dtype)};
}

AttentionWork attention_work(const ProbeShape& shape, Direction direction) {
  const std::int64_t sequence = number(shape, "sequence"), head_dim = number(shape, "head_dim");
  const std::int64_t heads = number(shape, "batch", 1) * number(shape, "heads");
  // As the operator's description counts: products halved by causality, two forward, five backward.
  const Flops product{heads * sequence * sequence * head_dim};
  return {product * (direction == Direction::forward ? 2 : 5), sequence, head_dim, heads};
}

CollectiveWork collective_work(InstructionKind kind, const ProbeShape& shape) {
  return {kind, {number(shape, "bytes")}, static_cast<int>(number(shape, "ranks", 2))};
}

Traffic traffic_of_shape(const ProbeShape& shape) {
  return {{number(shape, "bytes")}, number(shape, "pieces", 1)};
}

}  // namespace shardlab
