// Types that a device or backend does not have.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule unsupported_dtype() {
  return {
      .id = "precision/unsupported-dtype",
      .codes = {"E-24"},
      .title = "a type is not supported here",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "ATen's dispatch; torch/csrc/distributed/c10d",
      .message = "An operation does not exist for this type on this device or backend.",
      .explanation =
          "Kernels and communication backends support some types only: float16 is weak on CPUs and with "
          "Gloo, bfloat16 is missing on old GPUs and in some reductions, integers and 8-bit floats in most.",
      .fix = {.kind = FixKind::settings,
              .text = "choose a type that is supported: float32 on CPUs and Gloo, bfloat16 or float16 on "
                      "GPUs (precision.param, precision.reduce)"},
      .example = "RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'",
      .signs =
          {
              {.pattern = "unsupported data type", .certainty = 60},
              {.pattern = "not implemented for 'half'", .certainty = 88},
              {.pattern = "not implemented for 'bfloat16'", .certainty = 85},
              {.pattern = "not implemented for 'float8", .certainty = 85},
              {.pattern = "not implemented for 'char'", .certainty = 60},
              {.pattern = "invalid scalar type", .certainty = 70},
              {.pattern = "input tensor data type is not supported for nccl process group", .certainty = 93},
              {.pattern = "unconvertible nccl type", .certainty = 88},
              {.pattern = "type float8*not supported", .certainty = 75},
              {.pattern = "unsupported scalartype", .certainty = 75},
              {.pattern = "not support*float8", .certainty = 65},
              {.pattern = "fp8*not supported", .certainty = 60},
              {.pattern = "fp8*requires*compute capability", .certainty = 75},
              {.pattern = "unsupported dtype", .certainty = 60},
              {.pattern = "flashattention only support fp16 and bf16", .certainty = 75},
              {.pattern = "only support fp16 and bf16 data type", .certainty = 75},
              {.pattern = "only supports fp16 and bf16", .certainty = 75},
              {.pattern = "expected*data type*flash", .certainty = 40},
              {.pattern = "expected scalar type*but found", .certainty = 70},
              {.pattern = "must have the same dtype", .certainty = 68, .unless = {"flatten"}},
              {.pattern = "expected mat1 and mat2 to have the same dtype", .certainty = 72},
              {.pattern = "input type*and weight type*should be the same", .certainty = 72},
              {.pattern = "input type*and bias type*should be the same", .certainty = 72},
              {.pattern = "expects*dtype*but got*dtype", .certainty = 40},
              {.pattern = "unsupported fp16", .certainty = 55},
              {.pattern = "fp16 is not supported", .certainty = 75},
              {.pattern = "type fp16 is not supported", .certainty = 82},
          },
  };
}

}  // namespace

std::vector<Rule> precision_unsupported_type_rules() {
  return {unsupported_dtype()};
}

}  // namespace shardlab
