// ZeRO-1 and ZeRO-2: buckets, parts, the float32 copy and the gather after the update.
#include <fmt/format.h>

#include "engine/reasons/host_reason.h"
#include "engine/reasons/reason_rule.h"
#include "engine/strategies/zero12/host_gradients.h"

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

bool lies_there(const Context& c) {
  return c.step.buffer(c.self().writes.front()).within.has_value();
}

std::string part_of_gradient_text(const Context& c) {
  const Buffer& part = c.step.buffer(c.self().writes.front());
  return fmt::format(
      "This gradient is larger than a bucket, and several ranks own parts of it. These {} elements are one "
      "rank's: they are reduced where they lie, nothing is copied.",
      part.elements);
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

std::string owner_text(const Context& c) {
  return fmt::format(
      "With use_multi_rank_bucket_allreduce off a bucket is sent owner by owner: rank {} of {} receives the "
      "averages of its elements, the others nothing.",
      c.self().root, group_size(c));
}

// BF16_Optimizer's sums are the one flat vector of gradients, and what is sent of them is one, too.
bool is_of_sums(const Context& c, BufferId id) {
  const Buffer& buffer = c.step.buffer(id);
  return buffer.layout == BufferLayout::flat && buffer.buffer_class != BufferClass::parameter;
}
bool reads_sums(const Context& c) {
  return is_of_sums(c, c.self().reads.front());
}
bool adds_to_sums(const Context& c) {
  return is_of_sums(c, c.self().writes.front()) && !reads_sums(c);
}
bool sends_sums(const Context& c) {
  return reads_sums(c) && writes_class(c, BufferClass::reduce_buffer);
}
bool returns_sums(const Context& c) {
  return reads_sums(c) && writes_class(c, BufferClass::gradient);
}

std::string sum_text(const Context&) {
  return "Micro-batches are added up in float32, on every rank all of them, through a float32 copy of each "
         "gradient.";
}
std::string average_text(const Context& c) {
  return fmt::format("One all-reduce of {} ranks averages all sums; every rank keeps its part.",
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

bool sends_another_dtype(const Context& c) {
  return writes_class(c, BufferClass::reduce_buffer) && !c.self().allocates.empty();
}
bool returns_averages(const Context& c) {
  return reads_class(c, BufferClass::reduce_buffer) && c.self().allocates.empty() &&
         (writes_class(c, BufferClass::reduce_buffer) || writes_class(c, BufferClass::gradient));
}

bool gathers_sums(const Context& c) {
  return goes_to_host(c) && c.step.phase != PlanPhase::setup &&
         c.step.buffer(c.self().writes.front()).role == BufferRole::gradient_sums;
}
bool sends_part(const Context& c) {
  return goes_to_host(c) && c.step.phase != PlanPhase::setup;
}
bool rounds_on_host(const Context& c) {
  return is_done_on_host(c);
}

std::string sums_text(const Context&) {
  return "More micro-batches are to come: their sums wait in host memory, in the parameters' dtype.";
}
std::string part_text(const Context&) {
  return "The optimizer works in host memory: this rank's part of these averages goes there, in float32.";
}
std::string round_text(const Context&) {
  return "A processor rounds the updated float32 part; the device takes what is rounded.";
}
std::string return_text(const Context&) {
  return "The updated part comes back from host memory, to be gathered.";
}

const std::vector<std::string>& offload_keys() {
  static const std::vector<std::string> keys{"offload.optimizer", "offload.pin"};
  return keys;
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
      {K::Pack, lies_there, part_of_gradient_text, bucket},
      {K::Pack, nullptr, slices_text, bucket},
      {K::ZeroGradients,
       [](const Context& c) { return !c.self().writes.empty(); },
       [](const Context&) -> std::string {
         return "The gradients of the micro-batch before are in the sums: they become zero where they lie.";
       },
       {"train.accumulation", "parallel.zero"}},
      {K::Cast, adds_to_sums, sum_text, {"parallel.zero", "precision.param"}},
      {K::Accumulate, adds_to_sums, sum_text, {"parallel.zero", "train.accumulation"}},
      {K::Cast,
       sends_sums,
       [](const Context&) -> std::string {
         return "Gradients are sent in communication_data_type, bfloat16 where nothing else is said: the "
                "float32 sums are rounded for it.";
       },
       {"parallel.zero"}},
      {K::Cast,
       returns_sums,
       [](const Context&) -> std::string { return "The averages go back into the float32 sums."; },
       {"parallel.zero"}},
      {K::Cast,
       sends_another_dtype,
       [](const Context&) -> std::string {
         return "Gradients are sent in communication_data_type: a copy in it is made for that.";
       },
       {"parallel.zero"}},
      {K::Cast,
       returns_averages,
       [](const Context&) -> std::string {
         return "Gradients leave for host memory in their own dtype: the averages go back into it first.";
       },
       {"parallel.zero", "offload.optimizer"}},
      {K::Copy, returns_averages,
       [](const Context&) -> std::string {
         return "The averages of this rank's part go back into the bucket: the slices that were sent end "
                "here.";
       },
       bucket},
      {K::AllReduce, reads_sums, average_text, {"parallel.strategy", "parallel.zero"}},
      {K::AllReduce, nullptr, reduce_text, {"parallel.strategy", "parallel.zero", "train.accumulation"}},
      {K::Reduce, nullptr, owner_text, {"parallel.zero", "parallel.strategy"}},
      {K::Unpack,
       nullptr,
       [](const Context&) -> std::string { return "This rank keeps the averages of its own part."; },
       {"parallel.strategy"}},
      {K::Accumulate,
       comes_from_host,
       [](const Context&) -> std::string {
         return "The sums of earlier micro-batches come back from host memory: DeepSpeed adds on the device.";
       },
       {"offload.optimizer", "train.accumulation"}},
      {K::Copy, gathers_sums, sums_text, {"offload.optimizer", "train.accumulation"}},
      {K::Copy, sends_part, part_text, offload_keys()},
      {K::Cast, sends_part, part_text, offload_keys()},
      {K::Copy, rounds_on_host, round_text, offload_keys()},
      {K::Cast, rounds_on_host, round_text, offload_keys()},
      {K::Copy, comes_from_host, return_text, offload_keys()},
      {K::HostWait, awaits_copy, host_wait_text, offload_keys()},
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
