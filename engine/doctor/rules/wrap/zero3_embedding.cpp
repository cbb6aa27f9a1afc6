// Parameters that ZeRO-3 has partitioned, read elsewhere.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_weight_elsewhere =
    "A weight was read while it is sharded, empty or flat: outside the forward of its module under ZeRO-3, "
    "or past the hooks of FSDP.";
constexpr std::string_view k_in_its_module =
    "ZeRO-3: deepspeed.zero.GatheredParameters around it, or register_external_parameter; FSDP: call the "
    "wrapped model rather than a part of it, or FSDP.summon_full_params";

Rule zero3_embedding() {
  return {
      .id = "wrap/zero3-embedding",
      .codes = {"E-26"},
      .title = "a ZeRO-3 parameter was used while it is empty",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source =
          "deepspeed/runtime/zero/partition_parameters.py (GatheredParameters, register_external_parameter)",
      .message =
          "A parameter that ZeRO-3 has partitioned was read outside the forward of its module: it has size "
          "0.",
      .explanation =
          "ZeRO-3 gathers parameters by the hooks of their module. Tied weights, embeddings read by another "
          "module, checkpoints loaded and layers resized without gathering find an empty tensor. ZeRO-3 "
          "handles embeddings; accesses from elsewhere need registration.",
      .fix = {.kind = FixKind::code,
              .text = "read it inside deepspeed.zero.GatheredParameters, or register it with "
                      "deepspeed.zero.register_external_parameter; put tied weights in one unit"},
      .example = "RuntimeError: 'weight' must be 2-D, where the parameter is tensor([], device='cuda:1')",
      .signs =
          {
              {.pattern = "cannot free a zero-3 parameter while it is still active", .certainty = 84},
              {.pattern = "nested gatheredparameters contexts cannot overlap", .certainty = 86},
              {.pattern = "when using gatheredparameters with modifi", .certainty = 80},
              {.pattern = "mat1 and mat2 shapes cannot be multiplied*and 1x",
               .certainty = 62,
               .message = "The weight is one flat row: a packed or flattened parameter met an operator that "
                          "expects the matrix.",
               .fix = "read it inside deepspeed.zero.GatheredParameters, or use the layer that knows the "
                      "packed form (4-bit layers with the adapters made for them)"},
              {.pattern = "trying to set a tensor of shape torch.size([0])", .certainty = 92},
              {.pattern = "which has shape torch.size([0])", .certainty = 88},
              {.pattern = "'weight' must be 2-d",
               .certainty = 90,
               .message = k_weight_elsewhere,
               .fix = k_in_its_module},
              {.pattern = "weight*must be 2-d",
               .certainty = 85,
               .message = k_weight_elsewhere,
               .fix = k_in_its_module},
              {.pattern = "size mismatch*shape torch.size([0])",
               .certainty = 90,
               .unless = {"torch.size([0]) from checkpoint"}},
              {.pattern = "the shape in current model is torch.size([0])", .certainty = 92},
              {.pattern = "from checkpoint, the shape in current model is torch.size([0])", .certainty = 93},
              {.pattern = "zeroparamstatus.not_available", .certainty = 90},
              {.pattern = "zeroparamstatus.inflight", .certainty = 80},
              {.pattern = "ds_status*not_available", .certainty = 85},
              {.pattern = "'ds_numel'", .certainty = 50},
              {.pattern = "assert*param.ds_", .certainty = 70},
              {.pattern = "has no attribute 'ds_id'", .certainty = 70},
              {.pattern = "has no attribute 'ds_status'", .certainty = 70},
              {.pattern = "has no attribute 'ds_shape'", .certainty = 70},
              {.pattern = "external parameter*not registered", .certainty = 85},
              {.pattern = "expected weight to be a vector of size equal to the number of channels",
               .certainty = 60},
              {.pattern = "returned an invalid gradient at index*expected shape compatible with [0]",
               .certainty = 84},
              {.pattern = "size of tensor a (0) must match", .certainty = 62},
              {.pattern = "must match the size of tensor b (0)", .certainty = 62},
              {.pattern = "mat2 must be a matrix, got 1-d tensor", .certainty = 75},
              {.pattern = "mat1 and mat2 shapes cannot be multiplied*and 0x", .certainty = 70},
              {.pattern = "tensor with no elements*expected*", .certainty = 35},
              {.pattern = "expected*but got tensor of size [0]", .certainty = 55},
              {.pattern = "invalid_shape*(0,)", .certainty = 30},
              {.pattern = "index out of range*embedding*tensor([])", .certainty = 60},
              {.pattern = "params*already in flight", .certainty = 70},
          },
  };
}

}  // namespace

std::vector<Rule> wrap_zero3_embedding_rules() {
  return {zero3_embedding()};
}

}  // namespace shardlab
