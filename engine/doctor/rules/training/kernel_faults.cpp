// Kernels of a device that read or write where they may not.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule index_out_of_range() {
  return {
      .id = "training/index-out-of-range",
      .codes = {"Y-17"},
      .title = "an index is outside its table",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "aten/src/ATen/native/cuda/{Indexing,EmbeddingBag,NLLLoss2d}.cu",
      .message =
          "A kernel asserted that an index is in its table: a token outside the vocabulary, a label outside "
          "the "
          "classes, a position beyond the longest.",
      .explanation =
          "Kernels run behind the program, so that the line of the traceback is not the culprit, and every "
          "later call "
          "on the device fails too. Tokens that were added to the tokenizer and not to the embedding are the "
          "usual case.",
      .fix =
          {.kind = FixKind::code,
           .text =
               "compare the largest token and label of the batch with the embedding's rows and the classes "
               "(resize_token_embeddings after adding tokens; -100 for ignored labels); "
               "CUDA_LAUNCH_BLOCKING=1 shows the call"},
      .example = "RuntimeError: CUDA error: device-side assert triggered",
      .signs =
          {
              {.pattern = "device-side assert triggered", .certainty = 76},
              {.pattern = "cudaerrorassert", .certainty = 74},
              {.pattern = "index out of range in self", .certainty = 86},
              {.pattern = "assertion `srcindex < srcselectdimsize` failed", .certainty = 93},
              {.pattern = "assertion `t >= 0 && t < n_classes` failed", .certainty = 93},
              {.pattern = "assertion `*< vocab_size` failed", .certainty = 92},
              {.pattern = "assertion `*index out of bounds*failed", .certainty = 92},
              {.pattern = "assertion `*< *` failed", .certainty = 72},
              {.pattern = "target * is out of bounds", .certainty = 88},
          },
  };
}

Rule illegal_access() {
  return {
      .id = "training/illegal-access",
      .codes = {"Y-18"},
      .title = "a kernel touched memory that is not its own",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "CUDA runtime: cudaErrorIllegalAddress, cudaErrorMisalignedAddress, cudaErrorLaunchFailure",
      .message =
          "A kernel read or wrote outside its memory; whoever noticed it, such as NCCL's watchdog, did not "
          "cause it.",
      .explanation =
          "Kernels run behind the program, so that the line of the traceback is not the culprit. Extensions "
          "that were "
          "built for another version or device, tensors of more than 2^31 elements and memory that was freed "
          "on "
          "another stream are the usual cases; a failing device is one.",
      .fix = {.kind = FixKind::environment,
              .set = {"CUDA_LAUNCH_BLOCKING=1"},
              .text = "run again so that the traceback ends at the call (compute-sanitizer names the "
                      "kernel); turn fused and "
                      "compiled kernels off one by one; on one device only, look for Xid errors in dmesg"},
      .example = "RuntimeError: CUDA error: an illegal memory access was encountered",
      .signs =
          {
              {.pattern = "an illegal memory access was encountered", .certainty = 74},
              {.pattern = "cudaerrorillegaladdress", .certainty = 74},
              {.pattern = "cuda_error_illegal_address", .certainty = 74},
              {.pattern = "misaligned address", .certainty = 76},
              {.pattern = "unspecified launch failure", .certainty = 72},
              {.pattern = "an illegal instruction was encountered", .certainty = 74},
              {.pattern = "memory access fault by gpu node", .certainty = 84},
              {.pattern = "nvrm: xid*: 13,", .certainty = 80},
              {.pattern = "nvrm: xid*: 31,", .certainty = 80},
          },
  };
}

}  // namespace

std::vector<Rule> training_kernel_faults_rules() {
  return {index_out_of_range(), illegal_access()};
}

}  // namespace shardlab
