#include "engine/execute/torch/operators/copied_attention.h"
#include "engine/execute/torch/operators/implementation_list.h"

namespace shardlab {

extern const OperatorImplementation k_eager_copied_attention_implementation{
    copied_attention_forward<k_attention_implementation>,
    copied_attention_backward<k_attention_implementation>};

}  // namespace shardlab
