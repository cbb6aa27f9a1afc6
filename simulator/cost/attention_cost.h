// Time of fused causal attention.
//
//   t = overhead + flops / (rate * narrow(d) * masked * s / (s + s_half))
//
// flops are the executed ones, causal halves counted as halves (two products forward, five backward); s is
// the sequence length, d the width of a head. narrow(d) is 1 from 128 on and falls by the same factor with
// each halving. `masked` is 1 but for a kernel that is handed a matrix to add to the
// scores: it computes all pairs, and more slowly. Which kernel it is, and in which direction, the rate says;
// the curves and their fit to published charts: assets/hardware/kernels/attention.yaml.
#pragma once

#include <cstdint>

#include "engine/base/units.h"
#include "simulator/cost/breakdown.h"
#include "simulator/cost/shape_table.h"

namespace shardlab {

struct AttentionWork {
  Flops flops;
  std::int64_t sequence = 0;
  std::int64_t head_dim = 0;
  std::int64_t heads = 0;  // of all sequences of the micro-batch
  bool masked = false;
};

struct AttentionCoefficients {
  FlopsPerSecond rate;
  double sequence_half = 0;
  double overhead_ns = 0;
  ShapeTable measured;
  double narrow = 1;  // the share of the rate with heads half as wide as 128
  double masked = 1;  // the share of the rate of a kernel that is handed a matrix
};

double attention_ns(const AttentionWork& work, const AttentionCoefficients& coefficients);
double attention_formula_ns(const AttentionWork& work, const AttentionCoefficients& coefficients);
ShapeTable::Coordinates coordinates_of(const AttentionWork& work);
CostBreakdown explain_attention(const AttentionWork& work, const AttentionCoefficients& coefficients);

}  // namespace shardlab
