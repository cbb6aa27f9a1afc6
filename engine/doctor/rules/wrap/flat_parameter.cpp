// What a flat parameter asks of the parameters in it.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_integer_weights =
    "FSDP1 cannot flatten integers: the base is quantised, and its packed weights are stored as uint8 or "
    "int8.";
constexpr std::string_view k_float_storage =
    "BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_storage=torch.bfloat16), the type of all other "
    "parameters, and torch_dtype the same; weights in eight bits cannot be sharded by FSDP1";

Rule uniform_dtype() {
  return {
      .id = "wrap/uniform-dtype",
      .codes = {"Y-01"},
      .title = "parameters of one unit are stored in two types",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch/distributed/fsdp/_flat_param.py (_validate_tensors_to_flatten)",
      .message = "FSDP1 flattens the parameters of a unit into one tensor, which has one type.",
      .explanation =
          "Adapters in float32 on a 16-bit base, a quantised base, a float32 router or norm mix types within "
          "a unit.",
      .fix = {.kind = FixKind::code,
              .text = "cast the parameters of a unit to one type before wrapping, make units of one type, or "
                      "use FSDP2, which does not flatten"},
      .example =
          "ValueError: Must flatten tensors with uniform dtype but got torch.bfloat16 and torch.float32",
      .signs =
          {
              {.pattern = "expected there to be only one unique element",
               .certainty = 78,
               .frame = "all_gather"},
              {.pattern = "must flatten tensors with uniform dtype", .certainty = 95},
              {.pattern = "must flatten tensors with the same dtype", .certainty = 95},
              {.pattern = "cannot flatten integer dtype tensors",
               .certainty = 92,
               .message = k_integer_weights,
               .fix = k_float_storage},
              {.pattern = "flatten*uniform*dtype", .certainty = 85},
              {.pattern = "flatparameter*requires uniform dtype", .certainty = 93},  // of torch 1.12 and 1.13
              {.pattern = "expects uniform dtype", .certainty = 75},
              {.pattern = "fsdp*expects uniform original parameter dtype", .certainty = 92},
              {.pattern = "expects uniform original*dtype", .certainty = 85},
          },
  };
}

Rule uniform_requires_grad() {
  return {
      .id = "wrap/uniform-requires-grad",
      .codes = {"Y-02"},
      .title = "trainable and frozen parameters share a flat parameter",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch/distributed/fsdp/_flat_param.py",
      .message =
          "FSDP1 without original parameters needs parameters of one kind in a unit, all trainable or all "
          "frozen.",
      .explanation =
          "A flat parameter requires a gradient as a whole. With original parameters mixed units work, and "
          "gradients of the frozen ones cost memory (X-21).",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.use_orig_params=true"},
              .text =
                  "use original parameters, or make units of one kind (frozen layers and adapters apart)"},
      .example = "ValueError: Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`",
      .signs =
          {
              {.pattern = "parameters*same requires_grad", .certainty = 82},
              {.pattern = "must flatten tensors with uniform*requires_grad", .certainty = 95},
              {.pattern = "flatten*uniform*requires_grad", .certainty = 90},
              {.pattern = "flatparameter*requires uniform*requires_grad", .certainty = 93},
              {.pattern = "has both parameters with requires_grad=true and*false", .certainty = 93},
              {.pattern = "both parameters with requires_grad", .certainty = 85},
              {.pattern = "fsdp does not support wrapping such modules*requires_grad", .certainty = 90},
          },
  };
}

}  // namespace

std::vector<Rule> wrap_flat_parameter_rules() {
  return {uniform_dtype(), uniform_requires_grad()};
}

}  // namespace shardlab
