#include "engine/execute/torch/kernels/row_kernels.h"

namespace shardlab {

#define SHARDLAB_DECLARE_TABLES(isa)                    \
  namespace isa {                                       \
  extern const RowKernels<float> k_float_kernels;       \
  extern const RowKernels<BFloat16> k_bfloat16_kernels; \
  extern const RowKernels<Float16> k_float16_kernels;   \
  }
SHARDLAB_DECLARE_TABLES(baseline)

#if defined(__x86_64__)
SHARDLAB_DECLARE_TABLES(avx2)
SHARDLAB_DECLARE_TABLES(avx512)

InstructionSet best_instruction_set() {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (avx2 && avx512) return InstructionSet::avx512;
  return avx2 ? InstructionSet::avx2 : InstructionSet::baseline;
}

template <>
const RowKernels<float>& row_kernels<float>(InstructionSet set) {
  if (set == InstructionSet::avx512) return avx512::k_float_kernels;
  return set == InstructionSet::avx2 ? avx2::k_float_kernels : baseline::k_float_kernels;
}
template <>
const RowKernels<BFloat16>& row_kernels<BFloat16>(InstructionSet set) {
  if (set == InstructionSet::avx512) return avx512::k_bfloat16_kernels;
  return set == InstructionSet::avx2 ? avx2::k_bfloat16_kernels : baseline::k_bfloat16_kernels;
}
template <>
const RowKernels<Float16>& row_kernels<Float16>(InstructionSet set) {
  if (set == InstructionSet::avx512) return avx512::k_float16_kernels;
  return set == InstructionSet::avx2 ? avx2::k_float16_kernels : baseline::k_float16_kernels;
}
#else
InstructionSet best_instruction_set() {
  return InstructionSet::baseline;
}

template <>
const RowKernels<float>& row_kernels<float>(InstructionSet) {
  return baseline::k_float_kernels;
}
template <>
const RowKernels<BFloat16>& row_kernels<BFloat16>(InstructionSet) {
  return baseline::k_bfloat16_kernels;
}
template <>
const RowKernels<Float16>& row_kernels<Float16>(InstructionSet) {
  return baseline::k_float16_kernels;
}
#endif

}  // namespace shardlab
