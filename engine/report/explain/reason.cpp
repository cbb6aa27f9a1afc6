#include "engine/report/explain/reason.h"

#include <algorithm>
#include <optional>

#include "engine/model/join_teacher.h"
#include "engine/plan/pass.h"
#include "engine/strategies/strategy.h"

namespace shardlab {

namespace {

// The strategy that made instructions of this pass: the student's, or the teacher's "teacher.fsdp2"; empty
// for other passes.
std::string_view strategy_of(const StepPlan& step, std::string_view pass) {
  if (pass == step.strategy) return pass;
  return pass.starts_with(k_teacher_prefix) ? pass.substr(k_teacher_prefix.size()) : std::string_view();
}

// Null for a name that is no strategy's.
const StrategyReasons* reasons_of(std::string_view strategy) {
  const StrategyType* const type = strategy_named(strategy);
  return type == nullptr ? nullptr : type->reasons;
}

std::vector<std::string> keys_of(const ReasonRule& rule, const StepPlan& step) {
  std::vector<std::string> keys = rule.keys;
  const StrategyReasons* const strategy = rule.names_cuts ? reasons_of(step.strategy) : nullptr;
  if (strategy != nullptr) keys.insert(keys.end(), strategy->cut_keys.begin(), strategy->cut_keys.end());
  return keys;
}

std::optional<Reason> first_that_applies(std::span<const ReasonRule> rules,
                                         const InstructionContext& context) {
  for (const ReasonRule& rule : rules) {
    if (rule.kind != context.self().kind) continue;
    if (rule.applies == nullptr || rule.applies(context))
      return Reason{rule.text(context), keys_of(rule, context.step)};
  }
  return std::nullopt;
}

std::string_view describe(PlanPass pass) {
  switch (pass) {
    case PlanPass::segments:
      return "the model's own order: batches, and forward and backward of its segments";
    case PlanPass::constants: return "tensors that are computed once from the model's configuration";
    case PlanPass::clip: return "clipping, between the last backward and the optimizer";
    case PlanPass::scaler: return "loss scaling, between the last backward and the optimizer";
    case PlanPass::optimizer: return "what follows the last backward of a step";
    case PlanPass::free_activations: return "gives back what no strategy owns after its last reader";
  }
  return "";
}

}  // namespace

Reason reason_of(const InstructionContext& context) {
  const StrategyReasons* const strategy = reasons_of(strategy_of(context.step, context.pass()));
  if (strategy != nullptr && strategy->rules != nullptr) {
    if (auto reason = first_that_applies(strategy->rules(), context)) return *std::move(reason);
  }
  return first_that_applies(common_reasons(), context).value_or(Reason{});
}

std::string describe_pass(const StepPlan& step, std::string_view pass) {
  if (const auto common = parse_word<PlanPass>(pass)) return std::string(describe(*common));
  const StrategyReasons* const strategy = reasons_of(strategy_of(step, pass));
  if (strategy == nullptr) return "";
  return std::string(strategy->source) + (pass == step.strategy ? "" : ", for the teacher");
}

std::string_view purpose_of(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::Forward:
      return "Runs the operators of a segment and keeps what its backward needs.";
    case InstructionKind::Recompute:
      return "Runs operators of a forward again, because their results were not kept.";
    case InstructionKind::Backward:
      return "Runs a segment backwards: gradients of its inputs and parameters; frees what forward kept.";
    case InstructionKind::AllGather:
      return "Collects the slices of all ranks, so that every rank holds the whole.";
    case InstructionKind::ReduceScatter:
      return "Adds up what all ranks hold and leaves each rank its slice of the result.";
    case InstructionKind::Reduce: return "Adds up what all ranks hold, on one rank.";
    case InstructionKind::AllReduce: return "Adds up what all ranks hold, on every rank.";
    case InstructionKind::Broadcast: return "Sends what one rank holds to the others.";
    case InstructionKind::AllToAll: return "Every rank sends a part to every other rank.";
    case InstructionKind::Cast: return "Converts to another element type.";
    case InstructionKind::Pack: return "Copies parameters' pieces into one buffer for communication.";
    case InstructionKind::Unpack: return "Copies parameters' pieces out of a communication buffer.";
    case InstructionKind::Quantize: return "Converts to a coded element type with scales.";
    case InstructionKind::Copy: return "Copies.";
    case InstructionKind::Accumulate: return "Adds to what is there.";
    case InstructionKind::Alloc: return "Takes memory, at its place in the host's order.";
    case InstructionKind::Free: return "Gives memory back, at its place in the host's order.";
    case InstructionKind::HostWait:
      return "Blocks the host until earlier work is done; nothing later is issued meanwhile.";
    case InstructionKind::GradientNorms:
      return "Squares and sums the gradients this rank holds, parameter by parameter.";
    case InstructionKind::Unscale: return "Divides the gradients by the loss scale.";
    case InstructionKind::CheckFinite: return "Looks for gradients that are not finite.";
    case InstructionKind::ClipGradients:
      return "Scales the gradients down to the norm that the scenario allows.";
    case InstructionKind::OptimizerStep: return "Updates parameters and optimizer states from the gradients.";
    case InstructionKind::ZeroGradients:
      return "Drops gradients, or sets those that it writes to zero where they lie.";
    case InstructionKind::Initialize: return "Fills parameters from the seed or from a file.";
    case InstructionKind::LoadBatch: return "Brings the next micro-batch of tokens.";
    case InstructionKind::Marker: return "Marks a point of the step.";
  }
  return "";
}

}  // namespace shardlab
