// Types that a device or backend does not have.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_types_differ =
    "The operands of one operation have different types: a part of the model, or its input, is in another"
    " precision than the rest.";
constexpr std::string_view k_one_type =
    "run the forward under autocast, or cast that part (adapters, heads, buffers, inputs) to the type of "
    "the others";
constexpr std::string_view k_no_attention =
    "This attention kernel is not to be had here: not on this device, for this model or in this "
    "installation.";
constexpr std::string_view k_other_attention =
    "another attention: attn_implementation=\"sdpa\" (or \"eager\") in transformers; flash attention 2 "
    "needs compute capability 8.0 (Ampere) or newer, float16 or bfloat16";

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
              {.pattern = "expected object of scalar type*but got scalar type",
               .certainty = 74,
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "found dtype*but expected",
               .certainty = 72,
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "does not support an attention implementation through",
               .certainty = 76,
               .message = k_no_attention,
               .fix = k_other_attention},
              {.pattern = "does not support flash attention",
               .certainty = 80,
               .message = k_no_attention,
               .fix = k_other_attention},
              {.pattern = "flashattention*is not available on cpu",
               .certainty = 82,
               .message = k_no_attention,
               .fix = k_other_attention},
              {.pattern = "flashattention*requires compute capability",
               .certainty = 82,
               .message = k_no_attention,
               .fix = k_other_attention},
              {.pattern = "the package for flashattention",
               .certainty = 78,
               .message = k_no_attention,
               .fix = k_other_attention},
              {.pattern = "invalid usage of tensors with different dtypes", .certainty = 74},
              {.pattern = "attempting to reduce an unsupported grad type", .certainty = 76},
              {.pattern = "expected dtype*but got dtype",
               .certainty = 76,
               .message = "The operands of one operation have different types: in the optimizer, its state "
                          "and the gradient.",
               .fix = "keep parameters, gradients and states in one type: load the model in float32 and let "
                      "mixed precision cast, or convert it whole"},
              {.pattern = "expected scalar type*but found",
               .certainty = 70,
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "must have the same dtype",
               .certainty = 68,
               .unless = {"flatten"},
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "to have the same dtype, but got",
               .certainty = 74,
               .unless = {"flatten"},
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "input type*and weight type*should be the same",
               .certainty = 72,
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "input type*and bias type*should be the same",
               .certainty = 72,
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "expected tensor for argument*to have the same*type",
               .certainty = 68,
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "to have same dtype",
               .certainty = 66,
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "dtypes of*do not match",
               .certainty = 60,
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "expected query, key, and value to have the same dtype",
               .certainty = 78,
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "attempted to set the storage of a tensor*dtype",
               .certainty = 60,
               .message = k_types_differ,
               .fix = k_one_type},
              {.pattern = "flashattention only supports",
               .certainty = 90,
               .message = k_no_attention,
               .fix = k_other_attention},
              {.pattern = "flash attention*only supports*gpu",
               .certainty = 84,
               .message = k_no_attention,
               .fix = k_other_attention},
              {.pattern = "flash*attention*requires*ampere",
               .certainty = 84,
               .message = k_no_attention,
               .fix = k_other_attention},
              {.pattern = "flash_attn*compute capability",
               .certainty = 80,
               .message = k_no_attention,
               .fix = k_other_attention},
              {.pattern = "no available kernel. aborting execution",
               .certainty = 80,
               .message = k_no_attention,
               .fix = k_other_attention},
              {.pattern = "head dimension at most",
               .certainty = 70,
               .message = k_no_attention,
               .fix = k_other_attention},
              {.pattern = "not implemented for 'long'", .certainty = 60},
              {.pattern = "not implemented for 'byte'", .certainty = 60},
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
              {.pattern = "fp8*requires*compute capability", .certainty = 75, .unless = {"will use"}},
              {.pattern = "unsupported dtype", .certainty = 60},
              {.pattern = "flashattention only support fp16 and bf16", .certainty = 75},
              {.pattern = "only support fp16 and bf16 data type", .certainty = 75},
              {.pattern = "only supports fp16 and bf16", .certainty = 75},
              {.pattern = "expected*data type*flash", .certainty = 40},
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
