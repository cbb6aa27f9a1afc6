// FSDP2 (fully_shard). Sources: torch 2.11, fsdp/_fully_shard (_fsdp_param_group.py, _fsdp_collectives.py),
// and recorded orders.
#include <algorithm>

#include <fmt/format.h>

#include "engine/reasons/host_reason.h"
#include "engine/reasons/parameters_reason.h"
#include "engine/reasons/reason_rule.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {
namespace {

using Context = InstructionContext;
using K = InstructionKind;

// --- which case
// ---------------------------------------------------------------------------------------------------------

bool casts_shard(const Context& c) {
  return reads_class(c, BufferClass::parameter_shard);
}
bool converts_arrived(const Context& c) {
  return reads_class(c, BufferClass::gather_buffer);
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
// With an integer reshard_after_forward each rank keeps its part of the smaller group.
bool handles_kept_part(const Context& c) {
  return reads_class(c, BufferClass::gathered_parameters);
}
bool frees_kept_part(const Context& c) {
  return frees_parameters(c) && c.step.buffer(c.self().frees.front()).layout == BufferLayout::row_shards;
}
// The output of a gather that nobody copied out.
bool frees_unused_output(const Context& c) {
  if (!frees_gather_output(c)) return false;
  const BufferId output = c.self().frees.front();
  for (std::size_t i = c.id.index(); i-- > 0;) {
    const Instruction& earlier = c.step.instructions[i];
    const auto mentions = [&](const std::vector<BufferId>& list) {
      return std::find(list.begin(), list.end(), output) != list.end();
    };
    if (earlier.kind == K::Unpack && mentions(earlier.reads)) return false;
    if (mentions(earlier.allocates)) return true;
  }
  return false;
}
bool is_not_over_replicas(const Context& c) {
  return !c.scenario().parallel->requires_all_reduce;
}
bool frees_parameters_in_forward(const Context& c) {
  return frees_parameters(c) && !serves_backward(c);
}

// --- what to say
// ---------------------------------------------------------------------------------------------------------

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
    return last_use_text(c) + fmt::format(" {} gathers it again, in {}.",
                                          c.is_teachers() ? "The next micro-batch" : "Its backward",
                                          label(c, make_id<InstructionId>(i)));
  }
  return last_use_text(c);
}

// The unit's own setting, which an override of parallel.wrap may have changed.
std::string unit_setting(const Context& c) {
  return to_text(c.planned.partition.unit(*c.self().unit).settings.reshard_after_forward);
}

std::string keep_part_text(const Context& c) {
  const Buffer& kept = c.step.buffer(c.self().writes.front());
  return fmt::format(
      "After forward {} is not spread over all ranks but over groups of {}: each rank keeps {} of it, and "
      "the gather in backward "
      "stays in the smaller group.",
      unit_text(c), unit_setting(c), to_string(kept.bytes()));
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

std::span<const ReasonRule> rules() {
  static const std::vector<ReasonRule> table{
      {K::Copy, comes_from_host, from_host_text, {"offload.parameters", "offload.pin"}},
      {K::Copy, goes_to_host, to_host_text, {"offload.parameters", "offload.pin", "train.accumulation"}},
      {K::HostWait, nullptr, host_wait_text, {"offload.parameters", "offload.pin"}},
      {K::Cast,
       converts_arrived,
       [](const Context& c) -> std::string {
         return fmt::format("It came from the host in {} and is gathered in {}.", dtype_read(c),
                            dtype_written(c));
       },
       {"model.dtype", "precision.param", "offload.parameters"}},
      {K::Accumulate,
       is_done_on_host,
       [](const Context&) -> std::string {
         return "Earlier micro-batches were reduced too: a processor adds to their gradient in host memory.";
       },
       {"offload.parameters", "train.accumulation", "train.sync"}},
      {K::Cast, casts_shard, cast_shard_text, {"model.dtype", "precision.param"}},
      {K::Cast,
       handles_kept_part,
       [](const Context&) -> std::string {
         return "With mixed precision whatever is gathered is copied first, the part that was kept too, "
                "although it has the dtype already.";
       },
       {"precision.param", "parallel.reshard_after_forward"}},
      {K::Cast, keeps_unsharded, keep_text, {"train.accumulation", "train.sync", "precision.reduce"}},
      {K::Cast, nullptr, cast_gradient_text, {"precision.reduce", "model.dtype"}},
      {K::Copy, handles_kept_part, keep_part_text, {"parallel.reshard_after_forward"}},
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
       {"parallel.reshard_after_forward", "parallel.prefetch.backward_depth", "parallel.mesh.shard"}},
      {K::AllGather,
       gathers_ahead_in_forward,
       gather_text,
       {"parallel.strategy", "parallel.prefetch.forward_depth", "parallel.mesh.shard"}},
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
      {K::Free,
       frees_kept_part,
       [](const Context&) -> std::string {
         return "The parameters have been gathered from the kept parts again.";
       },
       {"parallel.reshard_after_forward"}},
      {K::Free, frees_parameters_in_forward, reshard_text, {"parallel.reshard_after_forward"}},
      {K::Free, frees_parameters, last_use_text, {"parallel.reshard_after_backward"}},
      {K::Free,
       frees_unused_output,
       [](const Context&) -> std::string {
         return "This gather was prefetched for a backward that never came: nobody copied its output out.";
       },
       {"parallel.prefetch.backward_depth", "model.frozen"}},
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
       is_not_over_replicas,
       [](const Context&) -> std::string {
         return "Earlier micro-batches were reduced among the ranks that shard, not yet between replicas: "
                "the parts are added up.";
       },
       {"parallel.requires_all_reduce", "train.accumulation", "train.sync"}},
      {K::Accumulate,
       nullptr,
       [](const Context&) -> std::string {
         return "Earlier micro-batches were reduced too: their gradient is added to.";
       },
       {"train.accumulation", "train.sync"}},
  };
  return table;
}

constexpr std::string_view k_cut_keys[] = {"parallel.wrap.policy"};

}  // namespace

extern constexpr StrategyReasons k_fsdp2_reasons{"the schedule of torch 2.11's fully_shard", rules,
                                                 k_cut_keys};

}  // namespace shardlab
