// CUDA graphs.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule cuda_graphs() {
  return {
      .id = "compile/cuda-graphs",
      .codes = {"C-29"},
      .title = "CUDA graphs cannot be used as they are",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch/_inductor/cudagraph_trees.py",
      .message = "A CUDA graph was replayed over tensors that are still in use, or could not be captured.",
      .explanation =
          "The mode reduce-overhead replays into the same memory; outputs of one run are overwritten by the "
          "next, and shapes must not change.",
      .fix = {.kind = FixKind::code,
              .text = "use the default mode of torch.compile, or fixed shapes, and clone outputs that "
                      "outlive a step"},
      .example =
          "RuntimeError: Error: accessing tensor output of CUDAGraphs that has been overwritten by a "
          "subsequent run.",
      .signs =
          {
              {.pattern = "cudagraphs that has been overwritten", .certainty = 95},
              {.pattern = "cudagraph_mark_step_begin",
               .certainty = 85,
               .unless = {"unable to hit fast path"}},
              {.pattern = "operation not permitted when stream is capturing", .certainty = 92},
              {.pattern = "operation failed due to a previous error during capture", .certainty = 92},
              {.pattern = "cudaerrorstreamcapture", .certainty = 92},
              {.pattern = "cuda error: operation would make the legacy stream depend on a capturing",
               .certainty = 92},
              {.pattern = "cudagraph*empty", .certainty = 60},
              {.pattern = "skipping cudagraphs due to", .certainty = 60, .most = Severity::info},
              {.pattern = "skipping cudagraphs", .certainty = 55, .most = Severity::info},
              {.pattern = "cuda graph*captur*fail", .certainty = 85},
              {.pattern = "capture cuda graph failed", .certainty = 90},
              {.pattern = "cuda graph is empty", .certainty = 60},
              {.pattern = "static input data pointer changed", .certainty = 88},
          },
  };
}

}  // namespace

std::vector<Rule> compile_cuda_graphs_rules() {
  return {cuda_graphs()};
}

}  // namespace shardlab
