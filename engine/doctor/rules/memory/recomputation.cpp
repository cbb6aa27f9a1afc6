// Checkpointing that computes other values.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule recomputed_differs() {
  return {
      .id = "memory/recomputed-differs",
      .codes = {"Y-04"},
      .title = "recomputed values differ from the saved ones",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "torch/utils/checkpoint.py",
      .message = "Activation checkpointing computed other tensors in backward than forward saved.",
      .explanation =
          "A cache that forward filled (use_cache), a branch on data, two forwards before one backward, or "
          "parameters released between. Sizes tell: twice as long is a cache, zero a released parameter.",
      .fix = {.kind = FixKind::code,
              .text = "use_cache=False, deterministic branches, one forward a backward; the non-reentrant "
                      "form inside the units"},
      .example =
          "torch.utils.checkpoint.CheckpointError: Recomputed values for the following tensors have "
          "different metadata than during the forward pass.",
      .signs =
          {
              {.pattern = "device state was initialized in the forward pass of a checkpoint",
               .certainty = 78},
              {.pattern = "tensor cached during selective activation checkpoint has been mutated",
               .certainty = 86},
              {.pattern = "torch.utils.checkpoint is incompatible with .grad()",
               .certainty = 84,
               .message = "Reentrant checkpointing does not work with autograd.grad or backward(inputs=...).",
               .fix = "use_reentrant=False"},
              {.pattern = "none of*output*requires_grad=true, this checkpoint() is not necessary",
               .certainty = 78,
               .message = "Nothing that was recomputed needs a gradient: its inputs are detached, and its "
                          "parameters are frozen.",
               .fix = "use_reentrant=False, or model.enable_input_require_grads(); leave frozen parts out of "
                      "checkpointing"},
              {.pattern = "recomputed metadata: {", .certainty = 90},
              {.pattern = "element 0 of tensors does not require grad and does not have a grad_fn",
               .certainty = 66,
               .message = "No gradient reaches the loss: nothing that leads to it is trained, or reentrant "
                          "checkpointing drops it where no input of the segment needs one (frozen "
                          "embeddings, adapters).",
               .fix = "use_reentrant=False, or model.enable_input_require_grads(); without checkpointing: "
                      "something must be trainable"},
              {.pattern = "trying to save more tensors during recomputation", .certainty = 95},
              {.pattern = "unpack is being triggered for a tensor that was already unpacked",
               .certainty = 85},
              {.pattern = "recomputed values for the following tensors have different metadata",
               .certainty = 95},
              {.pattern = "recomputed values*different", .certainty = 90},
              {.pattern =
                   "a different number of tensors was saved during the original forward and recomputation",
               .certainty = 95},
              {.pattern = "checkpointerror:", .certainty = 82},
              {.pattern = "number of tensors saved during forward*recomputation", .certainty = 92},
              {.pattern = "trying to backward through the graph a second time",
               .certainty = 55,
               .frame = "checkpoint"},
              {.pattern = "expected to mark a variable ready only once",
               .certainty = 60,
               .message =
                   "A parameter's gradient came twice in one backward: reentrant checkpointing under DDP.",
               .fix = "use_reentrant=False, or static_graph=True where the graph never changes"},
              {.pattern = "has already been reduced*gradient computed twice",
               .certainty = 82,
               .message = "ZeRO got the gradient of a parameter twice: reentrant checkpointing of shared "
                          "modules, or a second backward before the step.",
               .fix = "use_reentrant=False; one backward for each micro-batch, through the engine"},
              {.pattern = "only allowed to backward once on any region computed under selective",
               .certainty = 80},
              {.pattern = "detected that*unpack*checkpoint*", .certainty = 60},
              {.pattern = "none of the inputs have requires_grad=true. gradients will be none",
               .certainty = 60,
               .most = Severity::info},
          },
  };
}

}  // namespace

std::vector<Rule> memory_recomputation_rules() {
  return {recomputed_differs()};
}

}  // namespace shardlab
