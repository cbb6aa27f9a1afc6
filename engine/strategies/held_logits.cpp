#include "engine/strategies/held_logits.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/model/operators/operator_list.h"
#include "engine/scenario/model_spec.h"

namespace shardlab {
namespace {

std::optional<TensorId> find_logits(const ModelGraph& graph) {
  const auto is_loss = [](const Operator& op) {
    return op.type == &k_cross_entropy || op.type == &k_eager_cross_entropy ||
           op.type == &k_compiled_cross_entropy;
  };
  const auto loss = std::find_if(graph.operators.begin(), graph.operators.end(), is_loss);
  if (loss == graph.operators.end()) return std::nullopt;
  return loss->inputs[0];
}

}  // namespace

std::optional<BufferId> hold_logits(StepBuilder& builder, const LossSpec& loss, int micro_batch) {
  if (!loss.held_logits) return std::nullopt;
  const std::optional<TensorId> logits = find_logits(builder.graph());
  if (!logits) return std::nullopt;
  Buffer buffer;
  buffer.name = fmt::format("act.held_logits.mb{}", micro_batch);
  buffer.buffer_class = BufferClass::activation;
  buffer.dtype = *loss.held_logits;
  buffer.elements = element_count(builder.graph().tensor(*logits).shape);
  buffer.tensor = logits;
  buffer.micro_batch = micro_batch;
  const BufferId held = builder.declare(std::move(buffer));
  Instruction alloc;
  alloc.kind = InstructionKind::Alloc;
  alloc.micro_batch = micro_batch;
  alloc.allocates = alloc.writes = {held};
  builder.set_pass(PlanPass::segments);
  builder.emit(std::move(alloc));
  builder.set_pass(builder.plan().strategy);
  return held;
}

void give_up_logits(StepBuilder& builder, BufferId held) {
  builder.set_pass(PlanPass::segments);
  builder.free({held});
  builder.set_pass(builder.plan().strategy);
}

}  // namespace shardlab
