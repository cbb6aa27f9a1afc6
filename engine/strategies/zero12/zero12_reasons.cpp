// ZeRO-1 and ZeRO-2: buckets, parts, the float32 copy and the gather after the update.
#include <fmt/format.h>

#include "engine/reasons/reason_rule.h"

namespace shardlab {
namespace {

using Context = InstructionContext;

bool writes_bucket(const Context& c) {
  return c.step.buffer(c.self().writes.front()).role == BufferRole::bucket;
}

std::string pack_text(const Context& c) {
  const Buffer& bucket = c.step.buffer(c.self().writes.front());
  return fmt::format("These gradients are complete: they move into {}, and their own memory goes.",
                     bucket.name);
}

std::string slices_text(const Context& c) {
  const Buffer& slices = c.step.buffer(c.self().writes.front());
  return fmt::format(
      "The {} gradients of the bucket belong to several ranks: DeepSpeed copies their slices together before "
      "it "
      "sends them.",
      slices.parameters.size());
}

std::string reduce_text(const Context& c) {
  return fmt::format(
      "The next gradient does not fit into the bucket, or backward is over: {} ranks average it. Every rank "
      "receives all of it, and keeps its part.",
      group_size(c));
}

std::string cast_text(const Context& c) {
  if (c.step.phase == PlanPhase::setup)
    return "The optimizer updates a float32 copy of this rank's part, cut from weights of the parameters' "
           "dtype.";
  return writes_class(c, BufferClass::parameter)
             ? "The updated float32 part goes back into the weights that compute reads."
             : "The optimizer works in float32: the gradients of this rank's part are copied for it.";
}

std::span<const ReasonRule> rules() {
  using K = InstructionKind;
  static const std::vector<std::string> bucket{"parallel.zero", "parallel.strategy"};
  static const std::vector<ReasonRule> table{
      {K::Alloc, nullptr,
       [](const Context&) -> std::string {
         return "A bucket is memory of reduce_bucket_size elements, whatever lies in it; with overlap_comm "
                "there "
                "are two.";
       },
       bucket},
      {K::Pack, writes_bucket, pack_text, bucket},
      {K::Pack, nullptr, slices_text, bucket},
      {K::AllReduce, nullptr, reduce_text, {"parallel.strategy", "parallel.zero", "train.accumulation"}},
      {K::Unpack,
       nullptr,
       [](const Context&) -> std::string { return "This rank keeps the averages of its own part."; },
       {"parallel.strategy"}},
      {K::Accumulate,
       nullptr,
       [](const Context&) -> std::string {
         return "Micro-batches are added up in this rank's part: whole gradients do not stay.";
       },
       {"train.accumulation", "parallel.zero"}},
      {K::HostWait,
       nullptr,
       [](const Context&) -> std::string {
         return "DeepSpeed synchronizes the device at the end of backward when reductions overlap.";
       },
       {"parallel.zero"}},
      {K::Copy, nullptr, cast_text, {"parallel.strategy"}},
      {K::Cast, nullptr, cast_text, {"precision.param", "parallel.strategy"}},
      {K::AllGather,
       nullptr,
       [](const Context& c) -> std::string {
         return fmt::format("Each of {} ranks has updated its part: the next forward needs all of them.",
                            group_size(c));
       },
       {"parallel.strategy"}},
  };
  return table;
}

}  // namespace

extern const StrategyReasons k_zero12_reasons{"DeepSpeed 0.19.8's ZeRO-1 and ZeRO-2", rules};

}  // namespace shardlab
