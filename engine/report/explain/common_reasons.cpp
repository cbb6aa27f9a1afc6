// What all strategies share: the model's segments, the optimizer's tail, generic passes.
#include <fmt/format.h>

#include "engine/plan/pass.h"
#include "engine/reasons/parameters_reason.h"
#include "engine/report/explain/reason.h"

namespace shardlab {
namespace {

using Context = InstructionContext;

// "15 operators of model.layers.3, from rms_norm to add".
std::string operators_text(const Context& c) {
  const PlanSegment& segment = c.step.segments[c.self().segment->index()];
  const PlanUnit& unit = c.step.units[segment.unit.index()];
  const Operator& first = c.planned.graph.op(segment.begin);
  const Operator& last = c.planned.graph.op(OperatorId{segment.end.value - 1});
  const std::string module = unit.module_path.empty() ? "the model" : unit.module_path;
  const std::uint32_t count = segment.end.value - segment.begin.value;
  if (count == 1) return fmt::format("one operator of {}: {}", module, first.type->name);
  return fmt::format("{} operators of {}, from {} to {}", count, module, first.type->name, last.type->name);
}

std::string segment_name(const Context& c) {
  return c.step.segments[c.self().segment->index()].name;
}

std::string forward_text(const Context& c) {
  return fmt::format("{} is {}.", segment_name(c), operators_text(c));
}

bool teachers(const Context& c) {
  return c.is_teachers();
}

std::string teacher_text(const Context& c) {
  return fmt::format(
      "{} is {}. The teacher runs without a graph and keeps nothing; it comes before the student, so that "
      "the two are not in memory "
      "together: only its logits stay.",
      segment_name(c), operators_text(c));
}

std::string backward_text(const Context& c) {
  return fmt::format("{} backwards: {}. What its forward kept is given back on the way.", segment_name(c),
                     operators_text(c));
}

std::string recompute_text(const Context& c) {
  return fmt::format(
      "{} is run again for its backward: activation checkpointing did not keep what it needs. It is {}.",
      segment_name(c), operators_text(c));
}

std::string batch_text(const Context& c) {
  return fmt::format("Micro-batch {} of {} in a step: {} sequences of {} tokens on each rank.",
                     c.self().micro_batch.value_or(0) + 1, c.step.micro_batches, c.planned.graph.micro_batch,
                     c.planned.graph.sequence_length);
}

std::string norms_sum_text(const Context& c) {
  return fmt::format(
      "Each of the {} ranks knows the norms of its own shards only; their sum is the norm to clip by.",
      group_size(c));
}

std::string optimizer_text(const Context& c) {
  return fmt::format("All gradients of the step are there: {} updates the parameters that this rank holds.",
                     to_string(c.scenario().train.optimizer));
}

bool fills_constant(const Context& c) {
  return writes_class(c, BufferClass::constant);
}

std::string constant_text(const Context&) {
  return "Computed from the model's configuration, the same on every rank; it lives as long as the run.";
}

const std::vector<ReasonRule>& rules() {
  using K = InstructionKind;
  static const std::vector<ReasonRule> table{
      {K::Forward, teachers, teacher_text, {"model.config", "parallel.strategy"}},
      {K::Forward, nullptr, forward_text, {"model.config"}, true},
      {K::Backward, nullptr, backward_text, {"model.config"}, true},
      {K::Recompute,
       nullptr,
       recompute_text,
       {"activation.checkpoint", "activation.placement", "activation.reentrant"}},
      {K::LoadBatch,
       nullptr,
       batch_text,
       {"train.micro_batch", "train.accumulation", "model.sequence_length", "train.data"}},
      {K::GradientNorms,
       nullptr,
       [](const Context&) -> std::string {
         return "Clipping needs the norm of all gradients; this is each parameter's part of it.";
       },
       {"train.clip_norm"}},
      {K::AllReduce,
       [](const Context& c) { return c.pass() == to_string(PlanPass::scaler); },
       [](const Context& c) -> std::string {
         return fmt::format(
             "When one of {} ranks found a number that is not finite, all of them skip this step together.",
             group_size(c));
       },
       {"scaler.enabled", "precision.param"}},
      {K::AllReduce, nullptr, norms_sum_text, {"train.clip_norm", "parallel.strategy"}},
      {K::ClipGradients,
       nullptr,
       [](const Context&) -> std::string {
         return "The gradients are held to what the scenario allows before the optimizer sees them.";
       },
       {"train.clip_norm", "train.clip_value"}},
      {K::Unscale,
       nullptr,
       [](const Context&) -> std::string {
         return "The loss was scaled so that small float16 gradients survive; now the scale is taken out.";
       },
       {"scaler.enabled", "precision.param", "scaler.initial_scale"}},
      {K::OptimizerStep, nullptr, optimizer_text, {"train.optimizer", "train.optimizer_implementation"}},
      {K::ZeroGradients,
       nullptr,
       [](const Context&) -> std::string {
         return "The gradients have been used; zero_grad(set_to_none=True) drops them.";
       },
       {}},
      {K::Initialize, fills_constant, constant_text, {"model.config", "model.sequence_length"}},
      {K::Initialize,
       nullptr,
       initialize_text,
       {"parallel.strategy", "model.weights", "train.seed", "model.dtype"}},
      {K::Free, nullptr, last_use_text, {}},
  };
  return table;
}

}  // namespace

std::span<const ReasonRule> common_reasons() {
  return rules();
}

}  // namespace shardlab
