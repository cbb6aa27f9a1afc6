// FSDP2 (fully_shard). Sources: torch 2.11, fsdp/_fully_shard (_fsdp_param_group.py, _fsdp_collectives.py),
// and recorded orders.
#include <fmt/format.h>

#include "engine/report/explain/parameters_reason.h"
#include "engine/report/explain/reason.h"

namespace shardlab {
namespace {

using Context = InstructionContext;
using K = InstructionKind;

// --- which case
// -------------------------------------------------------------------------------------------------------------

bool casts_shard(const Context& c) {
  return reads_class(c, BufferClass::parameter_shard);
}
bool keeps_unsharded(const Context& c) {
  return writes_class(c, BufferClass::gradient);
}
bool fills_gather(const Context& c) {
  return writes_class(c, BufferClass::gather_buffer);
}
bool frees_parameters(const Context& c) {
  return frees_class(c, BufferClass::gathered_parameters);
}
bool frees_reduce_input(const Context& c) {
  return frees_class(c, BufferClass::reduce_buffer);
}
bool frees_gradient(const Context& c) {
  return frees_class(c, BufferClass::gradient);
}
bool frees_gradient_shard(const Context& c) {
  return frees_class(c, BufferClass::gradient_shard);
}
bool frees_gather_output(const Context& c) {
  return frees_class(c, BufferClass::gather_buffer) &&
         c.step.buffer(c.self().frees.front()).layout == BufferLayout::gathered_row_shards;
}
bool frees_parameters_in_forward(const Context& c) {
  return frees_parameters(c) && !serves_backward(c);
}

// --- what to say
// ------------------------------------------------------------------------------------------------------------

std::string cast_shard_text(const Context& c) {
  return fmt::format(
      "{} is kept in {} and computes in {}: this rank's rows are converted before they are gathered, so that "
      "the gather moves less.",
      unit_text(c), dtype_read(c), dtype_written(c));
}

std::string cast_gradient_text(const Context& c) {
  return fmt::format("The reduced gradient came in {}; the optimizer works on {} shards.", dtype_read(c),
                     dtype_written(c));
}

std::string keep_text(const Context& c) {
  return fmt::format(
      "This micro-batch does not reduce: FSDP2 keeps the whole gradients of {} in {} until the one that "
      "does.",
      unit_text(c), dtype_written(c));
}

std::string reduce_text(const Context& c) {
  return fmt::format("The gradients of {} are complete: {} ranks average them and each keeps its own rows.",
                     unit_text(c), group_size(c));
}

std::string reshard_text(const Context& c) {
  for (std::size_t i = c.id.index() + 1; i < c.step.instructions.size(); ++i) {
    const Instruction& later = c.step.instructions[i];
    if (later.kind != K::AllGather || later.unit != c.self().unit) continue;
    return last_use_text(c) +
           fmt::format(" Its backward gathers it again, in {}.", label(c, make_id<InstructionId>(i)));
  }
  return last_use_text(c);
}

std::string pack_text(const Context& c) {
  return fmt::format(
      "The reduce-scatter sends one buffer, rank by rank: each parameter's rows are copied to the rank that "
      "owns them{}.",
      dtype_read(c) == dtype_written(c) ? std::string() : fmt::format(", converted to {}", dtype_written(c)));
}

std::string gather_output_text(const Context& c) {
  const auto next = next_compute(c);
  const bool forward = next && c.step.instruction(*next).kind == K::Forward;
  if (!forward)
    return "It was copied out. In backward the output of a gather is dropped right after its copy-out.";
  return "It was copied out. In forward a variable of the framework holds the output of a gather until the "
         "next unit's was copied out, so two "
         "of them exist for a moment.";
}

std::string gradient_text(const Context& c) {
  const bool last = c.id.index() > 0 && c.step.instructions[c.id.index() - 1].kind == K::ReduceScatter;
  if (last)
    return "It was copied; the last parameter's gradient is held by a loop variable of the framework until "
           "the reduce-scatter was issued.";
  return "They were copied to where the reduction takes them from.";
}

const std::vector<ReasonRule>& rules() {
  static const std::vector<ReasonRule> table{
      {K::Cast, casts_shard, cast_shard_text, {"model.dtype", "precision.param"}},
      {K::Cast, keeps_unsharded, keep_text, {"train.accumulation", "train.sync", "precision.reduce"}},
      {K::Cast, nullptr, cast_gradient_text, {"precision.reduce", "model.dtype"}},
      {K::Copy,
       fills_gather,
       [](const Context&) -> std::string {
         return "FSDP2 gathers in place: this rank's rows go to their place in the output, from where they "
                "are sent.";
       },
       {"parallel.strategy"}},
      {K::AllGather,
       serves_backward,
       gather_text,
       {"parallel.reshard_after_forward", "parallel.mesh.shard", "parallel.wrap.policy"}},
      {K::AllGather,
       nullptr,
       gather_text,
       {"parallel.strategy", "parallel.mesh.shard", "parallel.wrap.policy"}},
      {K::Unpack,
       nullptr,
       [](const Context&) -> std::string {
         return "In the output of the gather the rows of one parameter lie apart, one piece a rank: they are "
                "copied into a tensor for each.";
       },
       {"parallel.strategy"}},
      {K::Free, frees_parameters_in_forward, reshard_text, {"parallel.reshard_after_forward"}},
      {K::Free, frees_parameters, last_use_text, {"parallel.reshard_after_backward"}},
      {K::Free, frees_gather_output, gather_output_text, {"parallel.strategy"}},
      {K::Free,
       frees_reduce_input,
       [](const Context&) -> std::string {
         return "One input of a reduce-scatter is alive at a time: before the next, and at the end of "
                "backward, compute waits for the one before.";
       },
       {"parallel.strategy"}},
      {K::Free, frees_gradient, gradient_text, {"parallel.strategy"}},
      {K::Free,
       frees_gradient_shard,
       [](const Context&) -> std::string {
         return "What the reduction left is in the gradient that the optimizer will read.";
       },
       {"precision.reduce", "train.accumulation"}},
      {K::Free,
       nullptr,
       [](const Context&) -> std::string {
         return "The gather has been issued; the copy it began with is not needed any more.";
       },
       {"precision.param"}},
      {K::Pack, nullptr, pack_text, {"parallel.strategy", "precision.reduce"}},
      {K::ReduceScatter, nullptr, reduce_text, {"parallel.strategy", "parallel.mesh.shard", "train.sync"}},
      {K::AllReduce,
       nullptr,
       [](const Context& c) -> std::string {
         return fmt::format("The shards of {} replicas are averaged.", group_size(c));
       },
       {"parallel.mesh.replicate", "parallel.requires_all_reduce"}},
      {K::Accumulate, keeps_unsharded, keep_text, {"train.accumulation", "train.sync", "precision.reduce"}},
      {K::Accumulate,
       nullptr,
       [](const Context&) -> std::string {
         return "Earlier micro-batches were reduced too: their gradient is added to.";
       },
       {"train.accumulation", "train.sync"}},
  };
  return table;
}

}  // namespace

std::span<const ReasonRule> fsdp2_reasons() {
  return rules();
}

}  // namespace shardlab
