// The same collective, called with tensors of different sizes.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule shapes_differ() {
  return {
      .id = "collectives/shapes-differ",
      .codes = {"C-22"},
      .title = "tensors of one collective differ in size between ranks",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::measurement, Need::log},
      .threshold = "another shape or type at the same sequence number on two ranks",
      .source = "torch/csrc/distributed/c10d/ProcessGroupWrapper.cpp",
      .message = "Ranks call the same collective with tensors of different sizes.",
      .explanation =
          "A collective of equal parts needs the same shape and type everywhere; NCCL does not check, so "
          "that the call hangs or reads what it should not. The usual reason is a last batch that is smaller "
          "on some ranks, or gathering tensors that were padded to each rank's own longest sequence.",
      .fix = {.kind = FixKind::code,
              .text = "drop the last incomplete batch, or pad to a length that all ranks agree on before the "
                      "collective"},
      .example =
          "RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: "
          "CollectiveFingerPrint(SequenceNumber=7, OpType=ALLREDUCE, TensorShape=[12]), but Rank 0 is "
          "running collective: CollectiveFingerPrint(SequenceNumber=7, OpType=ALLREDUCE, TensorShape=[16]). "
          "Collectives differ in the following aspects: Tensor Tensor shapes: 12vs 16",
      .signs =
          {
              {.pattern = "collectives differ in the following aspects*tensor shapes",
               .certainty = 86,
               .unless = {"aspects*op type", "aspects*sequence number:"}},
              {.pattern = "collectives differ in the following aspects*tensor sizes",
               .certainty = 86,
               .unless = {"aspects*op type", "aspects*sequence number:"}},
              {.pattern = "collectives differ in the following aspects*tensor dtypes",
               .certainty = 86,
               .unless = {"aspects*op type", "aspects*sequence number:"}},
              {.pattern = "tensors must have the same size*all_gather", .certainty = 70},
              {.pattern = "all tensors*must have the same size*across ranks", .certainty = 80},
              {.pattern = "gatheralgorithm*size mismatch", .certainty = 70},
              {.pattern = "op.preamble.length <= op.nbytes", .certainty = 88},
              {.pattern = "enforce fail*gloo*op.preamble.length*", .certainty = 88},
              {.pattern = "received data size doesn't match expected size", .certainty = 85},
              {.pattern = "output tensor size must be equal to world_size times input tensor size",
               .certainty = 75},
              {.pattern = "cannot operate on the required operation as the input tensors are not the same "
                          "shape across processes",
               .certainty = 90},
              {.pattern = "impossible to apply the desired operation due to inconsistent shapes",
               .certainty = 92},
              {.pattern = "not all values are true tensors*gather", .certainty = 50},
              {.pattern = "tensor list*across ranks*inconsistent shape", .certainty = 70},
              {.pattern = "split sizes*doesn't match total dim 0 size", .certainty = 70},
          },
  };
}

}  // namespace

std::vector<Rule> collectives_shapes_differ_rules() {
  return {shapes_differ()};
}

}  // namespace shardlab
