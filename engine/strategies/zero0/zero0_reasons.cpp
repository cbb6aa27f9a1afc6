// DeepSpeed without ZeRO: gradients averaged at the end, float32 copies in 16-bit training.
#include <fmt/format.h>

#include "engine/reasons/reason_rule.h"

namespace shardlab {
namespace {

using Context = InstructionContext;

std::string cast_text(const Context& c) {
  if (c.step.phase == PlanPhase::setup)
    return "The optimizer updates float32 copies of the weights, cut from what was read in 16 bits.";
  return writes_class(c, BufferClass::gradient)
             ? "The optimizer works in float32: gradients are copied for it."
             : "The updated float32 weights go back to those that compute reads.";
}

std::span<const ReasonRule> rules() {
  using K = InstructionKind;
  static const std::vector<ReasonRule> table{
      {K::Pack,
       nullptr,
       [](const Context&) -> std::string {
         return "The last micro-batch is through: gradients are copied together, up to 5e8 elements at a "
                "time.";
       },
       {"parallel.strategy", "train.accumulation"}},
      {K::AllReduce,
       nullptr,
       [](const Context& c) -> std::string {
         return fmt::format("{} ranks average the gradients; compute waits, nothing overlaps.",
                            group_size(c));
       },
       {"parallel.strategy"}},
      {K::Unpack,
       nullptr,
       [](const Context&) -> std::string {
         return "The averages go back to where autograd left the gradients.";
       },
       {"parallel.strategy"}},
      {K::Cast, nullptr, cast_text, {"precision.param"}},
  };
  return table;
}

}  // namespace

extern const StrategyReasons k_zero0_reasons{"DeepSpeed 0.19.8 without ZeRO", rules};

}  // namespace shardlab
