// Our own schedule. Source: engine/strategies/native.
#include <fmt/format.h>

#include "engine/reasons/parameters_reason.h"
#include "engine/reasons/reason_rule.h"

namespace shardlab {
namespace {

using Context = InstructionContext;
using K = InstructionKind;

bool casts_parameters(const Context& c) {
  return reads_class(c, BufferClass::parameter_shard);
}
bool frees_parameters(const Context& c) {
  return frees_class(c, BufferClass::gathered_parameters);
}
bool frees_parameters_in_forward(const Context& c) {
  return frees_parameters(c) && !serves_backward(c);
}
bool frees_gradient_shard(const Context& c) {
  return frees_class(c, BufferClass::gradient_shard);
}
// Alive until its reduction ended; what was copied goes without waiting.
bool frees_reduced_input(const Context& c) {
  return !c.self().waits.empty();
}

std::string cast_parameters_text(const Context& c) {
  return fmt::format(
      "{} is kept in {} and computes in {}: this rank's part is converted into its place in the vector that "
      "is gathered and that compute reads.",
      unit_text(c), dtype_read(c), dtype_written(c));
}

std::string cast_gradient_text(const Context& c) {
  return fmt::format("The reduced gradient came in {}; the optimizer works on {} shards.", dtype_read(c),
                     dtype_written(c));
}

std::string reshard_text(const Context& c) {
  return last_use_text(c) +
         " The stream of gathers waits for that, so that the next gather finds the memory free.";
}

std::string pack_text(const Context& c) {
  const std::string why =
      dtype_read(c) == dtype_written(c)
          ? "Several segments make the gradients of this unit: they are copied to where the reduction reads "
            "them."
          : fmt::format("Gradients are made in {} and reduced in {}: they are converted once.", dtype_read(c),
                        dtype_written(c));
  return why;
}

std::string reduce_text(const Context& c) {
  return fmt::format("The gradients of {} are complete: {} ranks average them and each keeps its own part.",
                     unit_text(c), group_size(c));
}

std::span<const ReasonRule> rules() {
  static const std::vector<ReasonRule> table{
      {K::Cast, casts_parameters, cast_parameters_text, {"model.dtype", "precision.param"}},
      {K::Cast, nullptr, cast_gradient_text, {"precision.reduce", "model.dtype"}},
      {K::AllGather,
       serves_backward,
       gather_text,
       {"parallel.reshard_after_forward", "parallel.prefetch.backward_depth", "parallel.mesh.shard"}},
      {K::AllGather,
       nullptr,
       gather_text,
       {"parallel.strategy", "parallel.prefetch.forward_depth", "parallel.mesh.shard"}},
      {K::Free, frees_parameters_in_forward, reshard_text, {"parallel.reshard_after_forward"}},
      {K::Free, frees_parameters, reshard_text, {"parallel.strategy"}},
      {K::Free,
       frees_gradient_shard,
       [](const Context&) -> std::string {
         return "What the reduction left is in the gradient that the optimizer will read.";
       },
       {"precision.reduce", "train.accumulation"}},
      {K::Free,
       frees_reduced_input,
       [](const Context&) -> std::string {
         return "One reduction is under way at a time: before the next, and at the end of backward, compute "
                "waits for the one before "
                "and gives its input back.";
       },
       {"parallel.strategy"}},
      {K::Free,
       nullptr,
       [](const Context&) -> std::string {
         return "They were copied to where the reduction takes them from.";
       },
       {"precision.reduce"}},
      {K::Pack, nullptr, pack_text, {"precision.reduce", "parallel.wrap.policy"}},
      {K::ReduceScatter, nullptr, reduce_text, {"parallel.strategy", "parallel.mesh.shard", "train.sync"}},
      {K::AllReduce,
       nullptr,
       [](const Context& c) -> std::string {
         return fmt::format("The shards of {} replicas are averaged.", group_size(c));
       },
       {"parallel.mesh.replicate"}},
      {K::Accumulate,
       nullptr,
       [](const Context&) -> std::string {
         return "Earlier micro-batches left gradients: these are added to them.";
       },
       {"train.accumulation", "train.sync"}},
  };
  return table;
}

constexpr std::string_view k_cut_keys[] = {"parallel.wrap.policy"};

}  // namespace

extern constexpr StrategyReasons k_native_reasons{"our own schedule, which copies nothing that need not be",
                                                  rules, k_cut_keys};

}  // namespace shardlab
