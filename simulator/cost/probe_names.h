// What a probe's name and shape mean to a cost term. Written by the probes, read by fits and cost terms: the
// one place of the names.
//
//   matmul.<use>.<dtype>           m, n, k
//   attention.<direction>.<dtype>  batch, sequence, heads, kv_heads, head_dim
//   all_gather, reduce_scatter, all_reduce   bytes, ranks
//   drive.read, drive.write                  bytes
//   everything else                bytes (read and written), pieces
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "simulator/calibrate/calibration.h"
#include "simulator/cost/attention_cost.h"
#include "simulator/cost/coefficients.h"
#include "simulator/cost/collective_cost.h"
#include "simulator/cost/matmul.h"
#include "simulator/cost/memory_bound.h"

namespace shardlab {

struct MatmulProbe {
  MatmulUse use;
  DType dtype;
};
struct AttentionProbe {
  Direction direction;
  DType dtype;
};

std::string matmul_probe(MatmulUse use, DType dtype);
bool is_matmul_probe(std::string_view probe);
std::optional<MatmulProbe> matmul_of_probe(std::string_view probe);
std::optional<AttentionProbe> attention_of_probe(std::string_view probe);
std::string collective_probe(InstructionKind kind);
std::optional<InstructionKind> collective_of_probe(std::string_view probe);

MatmulShape matmul_shape(const ProbeShape& shape, DType dtype);
AttentionWork attention_work(const ProbeShape& shape, Direction direction);
CollectiveWork collective_work(InstructionKind kind, const ProbeShape& shape);
Traffic traffic_of_shape(const ProbeShape& shape);

}  // namespace shardlab
