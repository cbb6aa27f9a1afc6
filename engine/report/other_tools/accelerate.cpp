// `accelerate estimate-memory`: the model alone, on one device.
//
// Source: accelerate, src/accelerate/commands/estimate.py (estimate_training_usage, gather_data) and
// utils/modeling.py (calculate_maximum_sizes, get_max_layer_size). It builds the model with AutoModel, that
// is, without its head; "Training using Adam" is the largest of its four figures: 4 times the float32 size
// for float32, twice that size (the optimizer's) for 16 bits. The few bytes of buffers that it counts with
// the parameters are left out here.
#include <fmt/format.h>

#include "engine/report/other_tools/other_tools.h"

namespace shardlab {

ToolAnswer ask_accelerate(const ToolQuestion& q) {
  ToolAnswer answer{"accelerate estimate-memory",
                    {},
                    "knows no sharding",
                    "accelerate src/accelerate/commands/estimate.py"};
  if (q.stage > 0) return answer;
  const std::int64_t element = element_size(q.compute);
  const bool half = q.compute != DType::float32;
  const Bytes whole{4 * q.base_parameters};
  answer.bytes = whole * (half ? 2 : 4);
  answer.formula = fmt::format(
      "training with Adam: {} x {} of the model in float32 without its head; largest layer {}, whole {} in "
      "{}",
      half ? 2 : 4, to_string(whole), to_string(Bytes{element * q.largest_layer}),
      to_string(Bytes{element * q.base_parameters}), to_string(q.compute));
  return answer;
}

}  // namespace shardlab
