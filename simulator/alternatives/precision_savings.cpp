#include "engine/scenario/model_spec.h"
#include "engine/scenario/precision_spec.h"
#include "simulator/alternatives/savings.h"

namespace shardlab {

using C = BufferClass;

void add_precision_savings(const PlannedScenario& planned, Savings& savings) {
  const PrecisionSpec& precision = *planned.scenario.precision;
  const DType computed = planned.graph.compute_dtype;
  constexpr double k_half = 0.5;  // two bytes of four
  if (computed == DType::float32 && !precision.param)
    savings.push_back({"precision.param=bfloat16",
                       "computes in 16 bits",
                       {C::activation, C::activation_gradient, C::gathered_parameters, C::gather_buffer,
                        C::gradient, C::workspace},
                       k_half,
                       Touches::precision});
  if (precision.reduce == DType::float32 && element_size(computed) == 2)
    savings.push_back({"precision.reduce=bfloat16",
                       "reduces gradients in 16 bits",
                       {C::reduce_buffer},
                       k_half,
                       Touches::precision});
  if (planned.scenario.model->dtype == DType::float32)
    savings.push_back({"model.dtype=bfloat16",
                       "stores all in 16 bits: small updates are lost",
                       {C::parameter, C::parameter_shard, C::gradient, C::gradient_shard, C::optimizer_state,
                        C::reduce_buffer, C::activation, C::activation_gradient, C::gathered_parameters,
                        C::gather_buffer, C::workspace},
                       k_half,
                       Touches::precision});
}

}  // namespace shardlab
