#include "engine/execute/torch/operators/aten/device_operators.h"
#include "engine/execute/torch/operators/copied_attention.h"

namespace shardlab {

extern const OperatorImplementation k_device_eager_copied_attention{
    copied_attention_forward<k_device_attention>, copied_attention_backward<k_device_attention>};

}  // namespace shardlab
