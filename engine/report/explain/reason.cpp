#include "engine/report/explain/reason.h"

#include <algorithm>
#include <optional>

#include "engine/model/join_teacher.h"

namespace shardlab {
namespace {

struct StrategyReasons {
  std::string_view strategy;
  std::string_view source;  // what its schedule mirrors
  std::span<const ReasonRule> (*rules)();
};

std::span<const ReasonRule> no_reasons() {
  return {};
}

constexpr StrategyReasons k_strategies[] = {
    {"none", "a single process: nothing is gathered or reduced", no_reasons},
    {"ddp", "the schedule of torch 2.11's DistributedDataParallel", ddp_reasons},
    {"fsdp1", "the schedule of torch 2.11's FullyShardedDataParallel", fsdp1_reasons},
    {"fsdp2", "the schedule of torch 2.11's fully_shard", fsdp2_reasons},
    {"native", "our own schedule, which copies nothing that need not be", native_reasons},
};

const StrategyReasons* find_strategy_reasons(std::string_view strategy) {
  const auto found = std::find_if(std::begin(k_strategies), std::end(k_strategies),
                                  [&](const StrategyReasons& known) { return known.strategy == strategy; });
  return found == std::end(k_strategies) ? nullptr : found;
}

// The strategy that made instructions of this pass: the student's, or the teacher's "teacher.fsdp2"; empty
// for other passes.
std::string_view strategy_of(const StepPlan& step, std::string_view pass) {
  if (pass == step.strategy) return pass;
  return pass.starts_with(k_teacher_prefix) ? pass.substr(k_teacher_prefix.size()) : std::string_view();
}

std::optional<Reason> first_that_applies(std::span<const ReasonRule> rules,
                                         const InstructionContext& context) {
  for (const ReasonRule& rule : rules) {
    if (rule.kind != context.self().kind) continue;
    if (rule.applies == nullptr || rule.applies(context)) return Reason{rule.text(context), rule.keys};
  }
  return std::nullopt;
}

}  // namespace

Reason reason_of(const InstructionContext& context) {
  if (const StrategyReasons* const strategy =
          find_strategy_reasons(strategy_of(context.step, context.pass()))) {
    if (auto reason = first_that_applies(strategy->rules(), context)) return *std::move(reason);
  }
  return first_that_applies(common_reasons(), context).value_or(Reason{});
}

std::string describe_pass(const StepPlan& step, std::string_view pass) {
  if (pass == "segments") return "the model's own order: batches, and forward and backward of its segments";
  if (pass == "optimizer") return "what follows the last backward of a step";
  if (pass == "clip") return "clipping, between the last backward and the optimizer";
  if (pass == "scaler") return "loss scaling, between the last backward and the optimizer";
  if (pass == "constants") return "tensors that are computed once from the model's configuration";
  if (pass == "free_activations") return "gives back what no strategy owns after its last reader";
  const StrategyReasons* const strategy = find_strategy_reasons(strategy_of(step, pass));
  if (strategy == nullptr) return "";
  return std::string(strategy->source) + (pass == step.strategy ? "" : ", for the teacher");
}

}  // namespace shardlab
