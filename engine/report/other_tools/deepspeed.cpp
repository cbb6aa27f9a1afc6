// DeepSpeed's estimators of model states (parameters, gradients, optimizer): no activations, no buffers.
//
// Source: DeepSpeed 0.19, deepspeed/runtime/zero/stage_1_and_2.py, estimate_zero2_model_states_mem_needs, and
// stage3.py, estimate_zero3_model_states_mem_needs, both without offload; the parameters are counted as their
// *_all_live forms count them. They take mixed precision with Adam for granted: 2 bytes of parameters and of
// gradients, 4 of each in float32, 8 of moments.
#include <fmt/format.h>

#include "engine/report/figures.h"
#include "engine/report/other_tools/other_tools.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_state_bytes = 18, k_parameter_bytes = 2, k_largest_bytes = 4;

std::string why_not(const ToolQuestion& q, int told) {
  if (q.stage == told) return fmt::format("shards over all ranks, this over {} of {}", q.shards, q.ranks);
  return fmt::format("speaks of ZeRO-{}, where {}", told,
                     told == 2 ? "parameters stay whole after forward (reshard_after_forward: false)"
                               : "parameters are gathered for each use");
}

}  // namespace

ToolAnswer ask_deepspeed_zero2(const ToolQuestion& q) {
  ToolAnswer answer{
      "DeepSpeed, ZeRO-2", {}, why_not(q, 2), "DeepSpeed 0.19 deepspeed/runtime/zero/stage_1_and_2.py"};
  if (q.stage != 2 || q.shards != q.ranks) return answer;
  answer.bytes = Bytes{k_parameter_bytes * q.parameters + k_state_bytes * q.parameters / q.ranks};
  answer.formula =
      fmt::format("model states: 2 x {0} parameters + 18 x {0} / {1} ranks", grouped(q.parameters), q.ranks);
  return answer;
}

ToolAnswer ask_deepspeed_zero3(const ToolQuestion& q) {
  ToolAnswer answer{
      "DeepSpeed, ZeRO-3", {}, why_not(q, 3), "DeepSpeed 0.19 deepspeed/runtime/zero/stage3.py"};
  if (q.stage != 3 || q.shards != q.ranks) return answer;
  answer.bytes = Bytes{k_largest_bytes * q.largest_module + k_state_bytes * q.parameters / q.ranks};
  answer.formula = fmt::format("model states: 4 x {} of the largest module + 18 x {} parameters / {} ranks",
                               grouped(q.largest_module), grouped(q.parameters), q.ranks);
  return answer;
}

}  // namespace shardlab
