// FSDP1 (FullyShardedDataParallel). Sources: torch 2.11, fsdp/_runtime_utils.py, fsdp/_flat_param.py, and
// recorded orders.
#include <fmt/format.h>

#include "engine/reasons/host_reason.h"
#include "engine/reasons/parameters_reason.h"
#include "engine/reasons/reason_rule.h"

namespace shardlab {
namespace {

using Context = InstructionContext;
using K = InstructionKind;

// --- which case
// ---------------------------------------------------------------------------------------------------------

bool casts_parameters(const Context& c) {
  return reads_class(c, BufferClass::parameter_shard) || reads_class(c, BufferClass::parameter);
}
bool casts_arrived(const Context& c) {
  return reads_class(c, BufferClass::gather_buffer);
}
bool casts_for_reduction(const Context& c) {
  return writes_class(c, BufferClass::reduce_buffer);
}
bool all_replicas(const Context& c) {
  return reads_class(c, BufferClass::gradient_shard);
}
bool adds_unsharded(const Context& c) {
  return writes_class(c, BufferClass::gradient);
}
bool frees_parameters(const Context& c) {
  return frees_class(c, BufferClass::gathered_parameters);
}
bool frees_parameters_in_forward(const Context& c) {
  return frees_parameters(c) && !serves_backward(c);
}
bool frees_cast(const Context& c) {
  return frees_class(c, BufferClass::gather_buffer);
}
bool frees_reduce_buffer(const Context& c) {
  return frees_class(c, BufferClass::reduce_buffer);
}
bool frees_gradient(const Context& c) {
  return frees_class(c, BufferClass::gradient);
}
bool frees_old_gradients(const Context& c) {
  return (frees_class(c, BufferClass::gradient_shard) || frees_gradient(c)) &&
         c.step.buffer(c.self().frees.front()).carried;
}

// The parameters are gathered already: nothing reads what this brings but, with another dtype, the
// conversion.
bool copies_again(const Context& c) {
  if (!comes_from_host(c)) return false;
  for (std::size_t i = c.id.index() + 1; i < c.step.instructions.size(); ++i) {
    const Instruction& later = c.step.instructions[i];
    if (later.unit != c.self().unit) continue;
    if (later.kind == K::AllGather) return false;
    if (later.kind == K::Free && later.stream == c.self().stream && later.waits.empty()) continue;
    if (later.kind != K::Cast && later.kind != K::HostWait) return true;
  }
  return true;
}
bool awaits_host_memory(const Context& c) {
  return !c.self().unit.has_value();
}
bool takes_host_memory(const Context& c) {
  return is_host(c.step.buffer(c.self().allocates.front()).space);
}

// --- what to say
// ---------------------------------------------------------------------------------------------------------

std::string cast_parameters_text(const Context& c) {
  return fmt::format(
      "{} is kept in {} and computes in {}: what this rank holds is converted on a stream of its own, each "
      "time it is unsharded.",
      unit_text(c), dtype_read(c), dtype_written(c));
}

std::string limiter_text(const Context& c) {
  std::string text = fmt::format(
      "Before {} is unshared the host waits for the oldest of the gathers that were given back, when two or "
      "more are queued: "
      "it must not run so far ahead that gathered parameters pile up.",
      unit_text(c));
  if (c.self().taken_event)
    text += fmt::format(" The queue is not emptied between steps: it waits for {} of the step before.",
                        c.step.taken_events[*c.self().taken_event]);
  return text;
}

std::string again_text(const Context& c) {
  return fmt::format(
      "{} was left gathered after forward, and went back to its shard in host memory all the same: FSDP1 "
      "copies "
      "that to the device again, and nothing uses the copy.",
      unit_text(c));
}

std::string host_gradient_text(const Context& c) {
  return fmt::format("Reduced gradients of {} go to page-locked memory that is taken once.", unit_text(c));
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

std::string flatten_text(const Context& c) {
  return fmt::format(
      "Parameters are views of the flat parameter of {}: the backward of the views joins their gradients "
      "into one flat gradient, "
      "so that for a moment they exist twice.",
      unit_text(c));
}

std::string scatter_text(const Context& c) {
  return fmt::format(
      "The gradient of {} is complete: {} ranks average it and each keeps its part of the flat vector.",
      unit_text(c), group_size(c));
}

std::string reduce_whole_text(const Context& c) {
  return fmt::format("Nothing is sharded: {} ranks average the whole gradient of {} in place.", group_size(c),
                     unit_text(c));
}

std::string gradient_text(const Context& c) {
  if (c.self().frees.size() == 1 &&
      c.step.buffer(c.self().frees.front()).layout != BufferLayout::parameters) {
    return "It was reduced, or added to what is kept; autograd's copy goes at the end of the hook.";
  }
  return "They were joined into the flat gradient.";
}

std::span<const ReasonRule> rules() {
  static const std::vector<ReasonRule> table{
      {K::Cast, casts_parameters, cast_parameters_text, {"model.dtype", "precision.param"}},
      {K::Cast,
       casts_for_reduction,
       [](const Context& c) -> std::string {
         return fmt::format("Gradients are reduced in {}; both copies live until the end of the hook.",
                            dtype_written(c));
       },
       {"precision.reduce", "precision.param"}},
      {K::Cast,
       casts_arrived,
       [](const Context& c) -> std::string {
         return fmt::format("It came from the host in {} and computes in {}.", dtype_read(c),
                            dtype_written(c));
       },
       {"model.dtype", "precision.param", "offload.parameters"}},
      {K::Cast,
       nullptr,
       [](const Context& c) -> std::string {
         return fmt::format("The reduced gradient came in {}; the optimizer works in {}.", dtype_read(c),
                            dtype_written(c));
       },
       {"precision.reduce", "model.dtype"}},
      {K::Copy, copies_again, again_text, {"offload.parameters"}},
      {K::Copy, comes_from_host, from_host_text, {"offload.parameters"}},
      {K::Copy, goes_to_host, to_host_text, {"offload.parameters"}},
      {K::HostWait, awaits_host_memory, host_wait_text, {"offload.parameters"}},
      {K::Alloc, takes_host_memory, host_gradient_text, {"offload.parameters"}},
      {K::HostWait, nullptr, limiter_text, {"parallel.prefetch.limit_all_gathers"}},
      {K::AllGather,
       serves_backward,
       gather_text,
       {"parallel.sharding", "parallel.prefetch.backward", "parallel.mesh.shard"}},
      {K::AllGather,
       gathers_ahead_in_forward,
       gather_text,
       {"parallel.sharding", "parallel.prefetch.forward", "parallel.mesh.shard"}},
      {K::AllGather,
       nullptr,
       gather_text,
       {"parallel.sharding", "parallel.wrap.policy", "parallel.mesh.shard"}},
      {K::Free, frees_parameters_in_forward, reshard_text, {"parallel.sharding"}},
      {K::Free, frees_parameters, last_use_text, {"parallel.sharding"}},
      {K::Free,
       frees_cast,
       [](const Context&) -> std::string {
         return "The gather that reads it has been issued; its stream is recorded, so the memory waits for "
                "it.";
       },
       {"precision.param"}},
      {K::Free,
       frees_old_gradients,
       [](const Context&) -> std::string {
         return "zero_grad cleared the parameters' gradients, which are views; the flat parameter kept its "
                "own until this first unshard of the next step.";
       },
       {"parallel.use_orig_params"}},
      {K::Free,
       frees_reduce_buffer,
       [](const Context&) -> std::string {
         return "The reduction that reads it has been issued on the same stream.";
       },
       {"precision.reduce"}},
      {K::Free, frees_gradient, gradient_text, {"parallel.use_orig_params"}},
      {K::Free, nullptr, last_use_text, {"parallel.use_orig_params"}},
      {K::Pack, nullptr, flatten_text, {"parallel.strategy", "parallel.use_orig_params"}},
      {K::Copy,
       nullptr,
       [](const Context&) -> std::string {
         return "The flat gradient is no multiple of the ranks: it is copied into a padded buffer for the "
                "reduce-scatter.";
       },
       {"parallel.use_orig_params", "parallel.mesh.shard"}},
      {K::ReduceScatter, nullptr, scatter_text, {"parallel.sharding", "parallel.mesh.shard", "train.sync"}},
      {K::AllReduce,
       all_replicas,
       [](const Context& c) -> std::string {
         return fmt::format(
             "Hybrid sharding: the shard of {} is averaged with the same shard of {} replicas.", unit_text(c),
             group_size(c));
       },
       {"parallel.sharding", "parallel.mesh.replicate"}},
      {K::AllReduce, nullptr, reduce_whole_text, {"parallel.sharding", "train.sync"}},
      {K::Accumulate,
       adds_unsharded,
       [](const Context&) -> std::string {
         return "Earlier micro-batches left their gradient whole and not reduced: this one is added to it.";
       },
       {"train.accumulation", "train.sync"}},
      {K::Accumulate,
       nullptr,
       [](const Context&) -> std::string {
         return "Earlier micro-batches were reduced too: their gradient is added to.";
       },
       {"train.accumulation", "train.sync"}},
      {K::Alloc,
       nullptr,
       [](const Context&) -> std::string {
         return "Without synchronisation use_orig_params takes this for a moment, where the parameters' "
                "gradients become views.";
       },
       {"parallel.use_orig_params", "train.sync"}},
  };
  return table;
}

constexpr std::string_view k_cut_keys[] = {"parallel.wrap.policy"};

}  // namespace

extern constexpr StrategyReasons k_fsdp1_reasons{"the schedule of torch 2.11's FullyShardedDataParallel",
                                                 rules, k_cut_keys};

}  // namespace shardlab
