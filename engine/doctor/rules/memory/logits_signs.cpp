#include "engine/doctor/rules/memory/logits_signs.h"

#include <array>
#include <string_view>

namespace shardlab {
namespace {

constexpr std::string_view k_logits =
    "Memory ran out in the head or the loss: the logits of every token over the vocabulary, and copies of "
    "them in float32, which checkpointing of layers does not lower.";
constexpr std::string_view k_fewer_logits =
    "do not make all logits at once: a chunked or fused loss (model.loss={kind: chunked, chunks: 8}; in "
    "transformers use_liger_kernel=True); or halve train.micro_batch and double train.accumulation";

// Surer than the frame of the model that stands above it, which is that of its layers too.
constexpr int k_surer_than_layers = 78;

// Functions, and lines of code that make or copy logits and call nothing else.
constexpr auto k_frames = std::to_array<std::string_view>(
    {"logits.float()", "logits.to(torch.float32)", "logits[..., :-1, :].contiguous()",
     "logits = self.lm_head(", "torch/nn/modules/loss.py", "in cross_entropy", "in fixed_cross_entropy",
     "in forcausallmloss", "in log_softmax", "in selective_log_softmax", "in entropy_from_logits"});

LogSign sign_of_logits(std::string_view pattern, std::string_view frame) {
  return {.pattern = pattern,
          .certainty = k_surer_than_layers,
          .frame = frame,
          .message = k_logits,
          .fix = k_fewer_logits};
}

}  // namespace

std::vector<LogSign> logits_signs() {
  std::vector<LogSign> signs;
  for (const std::string_view frame : k_frames) {
    signs.push_back(sign_of_logits("out of memory", frame));
    signs.push_back(sign_of_logits("outofmemoryerror", frame));
  }
  return signs;
}

}  // namespace shardlab
