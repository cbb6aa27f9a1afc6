// The row kernels for any processor that the compiler's default flags serve.
#define SHARDLAB_ISA baseline
#define SHARDLAB_LANES 4
#include "engine/execute/torch/kernels/body/table.h"
