// What all strategies share: the model's segments, the optimizer's tail, generic passes.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "engine/plan/pass.h"
#include "engine/reasons/parameters_reason.h"
#include "engine/report/explain/reason.h"
#include "engine/scenario/train_spec.h"

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
                     to_string(c.scenario().train->optimizer));
}

bool fills_constant(const Context& c) {
  return writes_class(c, BufferClass::constant);
}

std::string constant_text(const Context&) {
  return "Computed from the model's configuration, the same on every rank; it lives as long as the run.";
}

// Copies of the model's own order, and waits for them: what checkpoints hold leaves and comes back.
bool is_the_models(const Context& c) {
  return c.pass() == to_string(PlanPass::segments);
}

std::string offload_text(const Context& c) {
  const bool leaves = c.step.buffer(c.self().reads.front()).space == MemorySpace::device;
  return leaves ? "What a checkpointed block is called with leaves for page-locked host memory; the block's "
                  "forward reads it where it was."
                : "What a checkpointed block was called with comes back, for the block is run again now.";
}

std::string offload_wait_text(const Context&) {
  return "torch's save_on_cpu copies without non_blocking: the host goes on when what the checkpoint holds "
         "has arrived in host memory.";
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
      {K::Copy, is_the_models, offload_text, {"activation.offload", "activation.checkpoint"}},
      {K::HostWait, is_the_models, offload_wait_text, {"activation.offload"}},
      {K::LoadBatch,
       nullptr,
       batch_text,
       {"train.micro_batch", "train.accumulation", "model.sequence_length", "train.data"}},
      {K::CheckFinite,
       nullptr,
       [](const Context&) -> std::string {
         return "DeepSpeed looks through 16-bit gradients before every update: with one that is not finite "
                "the "
                "step is skipped.";
       },
       {"parallel.strategy", "precision.param"}},
      {K::GradientNorms,
       [](const Context& c) { return !c.scenario().train->clip_norm; },
       [](const Context&) -> std::string {
         return "The norm of all gradients is part of every step, whether it is clipped or not; this is each "
                "rank's part of it.";
       },
       {"parallel.strategy"}},
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

// Why an instruction waits: most waits follow from a buffer that both touch.

namespace {

std::optional<BufferId> shared_buffer(const std::vector<BufferId>& a, const std::vector<BufferId>& b) {
  const auto found = std::find_first_of(a.begin(), a.end(), b.begin(), b.end());
  return found == a.end() ? std::nullopt : std::optional(*found);
}

// What `other` does to a buffer that `self` needs afterwards; empty when they share none.
std::string conflict(const StepPlan& step, const Instruction& self, const Instruction& other) {
  const auto name = [&](BufferId id) { return step.buffer(id).name; };
  if (const auto id = shared_buffer(other.writes, self.reads))
    return fmt::format("writes {}, which this reads", name(*id));
  if (const auto id = shared_buffer(other.reads, self.frees))
    return fmt::format("reads {}, which this gives back", name(*id));
  if (const auto id = shared_buffer(other.writes, self.frees))
    return fmt::format("writes {}, which this gives back", name(*id));
  if (const auto id = shared_buffer(other.reads, self.writes))
    return fmt::format("reads {}, which this overwrites", name(*id));
  if (const auto id = shared_buffer(other.writes, self.writes))
    return fmt::format("writes {}, which this writes again", name(*id));
  if (const auto id = shared_buffer(other.frees, self.allocates))
    return fmt::format("gives back {}, which this takes again", name(*id));
  return {};
}

}  // namespace

std::string reason_to_wait(const InstructionContext& context, InstructionId awaited) {
  const StepPlan& step = context.step;
  const Instruction& other = step.instruction(awaited);
  if (context.self().kind == InstructionKind::HostWait)
    return "the host issues nothing more until it is done";
  if (std::string direct = conflict(step, context.self(), other); !direct.empty()) return "it " + direct;
  // A stream runs in issue order: a wait for its last instruction is one for all before it.
  for (std::size_t i = awaited.index(); i-- > 0;) {
    if (step.instructions[i].stream != other.stream) continue;
    const std::string earlier = conflict(step, context.self(), step.instructions[i]);
    if (!earlier.empty())
      return fmt::format("then {} is done too, which {}", label(context, make_id<InstructionId>(i)), earlier);
  }
  const std::string& stream = step.streams[other.stream.index()].name;
  return fmt::format("then all that {} was given before is done, work of the step before included", stream);
}

}  // namespace shardlab
