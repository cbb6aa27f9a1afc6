// ZeRO-3: gathers around modules, ahead of them and after the update; the bucket; the float32 part.
#include <fmt/format.h>

#include "engine/plan/transfers.h"
#include "engine/reasons/host_reason.h"
#include "engine/reasons/reason_rule.h"
#include "engine/strategies/zero3/quantized_reasons.h"

namespace shardlab {
namespace {

using Context = InstructionContext;

bool gathers_together(const Context& c) {
  return writes_class(c, BufferClass::gather_buffer);
}
bool keeps_memory(const Context& c) {
  return c.step.buffer(c.self().allocates.front()).kept;
}
bool writes_bucket(const Context& c) {
  return c.step.buffer(c.self().writes.front()).role == BufferRole::bucket;
}
bool unpacks_parameters(const Context& c) {
  return writes_class(c, BufferClass::gathered_parameters);
}
bool becomes_sums(const Context& c) {
  return writes_class(c, BufferClass::gradient_shard) && !c.self().allocates.empty();
}
bool casts_bucket(const Context& c) {
  return writes_class(c, BufferClass::reduce_buffer);
}
bool is_after_update(const Context& c) {
  return !compute_user(c);
}

std::string gather_text(const Context& c) {
  const auto user = compute_user(c);
  return fmt::format("{} needs the whole parameter; every rank holds its elements.",
                     user ? label(c, *user) : "The next module");
}

bool cuts_secondary(const StepPlan& step, const Instruction& instruction) {
  return instruction.kind == InstructionKind::Copy &&
         step.buffer(instruction.reads.front()).buffer_class == BufferClass::gathered_parameters &&
         step.buffer(instruction.writes.front()).buffer_class == BufferClass::parameter_shard;
}
bool cuts_secondary(const Context& c) {
  return cuts_secondary(c.step, c.self());
}
bool awaits_secondary(const Context& c) {
  return !c.self().waits.empty() && cuts_secondary(c.step, c.step.instruction(c.self().waits.front()));
}
bool gathers_among_neighbours(const Context& c) {
  return c.step.groups[c.self().group->index()].ranks.part > 0;
}

std::string cast_text(const Context& c) {
  if (c.step.phase == PlanPhase::setup)
    return "The optimizer updates a float32 copy of this rank's elements.";
  return writes_class(c, BufferClass::parameter_shard)
             ? "The updated float32 elements go back into the shards that are gathered."
             : "The optimizer works in float32: this rank's gradients are copied for it.";
}

bool brings_gradients(const Context& c) {
  return comes_from_host(c) && writes_class(c, BufferClass::gradient_shard);
}
bool brings_update(const Context& c) {
  return comes_from_host(c) && c.self().writes.size() > 1;
}
bool sends_in_step(const Context& c) {
  return goes_to_host(c) && c.step.phase != PlanPhase::setup;
}
bool widens_on_device(const Context& c) {
  return writes_class(c, BufferClass::gradient_shard) && !c.self().allocates.empty() && !is_done_on_host(c) &&
         c.step.buffer(c.self().writes.front()).parameters.size() == 1;
}

bool uses_drive(const Context& c) {
  return uses_drive(c.step, c.self());
}
bool reads_drive(const Context& c) {
  return uses_drive(c) && c.step.buffer(c.self().reads.front()).space == MemorySpace::disk;
}
bool writes_gradient(const Context& c) {
  return uses_drive(c) && c.step.phase != PlanPhase::setup && writes_class(c, BufferClass::gradient_shard);
}
bool goes_into_pool(const Context& c) {
  return c.step.buffer(c.self().writes.front()).within.has_value();
}
bool awaits_drive(const Context& c) {
  return !c.self().waits.empty() && uses_drive(c.step, c.step.instruction(c.self().waits.front()));
}
// The host waits for a write, after which the written staging buffers are free again.
bool awaits_write(const Context& c) {
  return awaits_drive(c) &&
         c.step.buffer(c.step.instruction(c.self().waits.front()).writes.front()).space == MemorySpace::disk;
}

std::string read_text(const Context&) {
  return "The sub-group is updated next: its master, states and gradients come from the drive, each into a "
         "staging buffer.";
}
std::string write_gradient_text(const Context&) {
  return "A staging buffer is full of gradients, or the update begins: they are written, and then the "
         "buffer is free for others.";
}
std::string write_text(const Context& c) {
  return c.step.phase == PlanPhase::setup
             ? "The float32 master of a sub-group rests on the drive."
             : "The sub-group is updated: what it is made of goes back to the drive until the next step.";
}
std::string into_pool_text(const Context&) {
  return "A drive is read and written in page-locked memory alone: the elements go through a staging buffer.";
}
std::string square_text(const Context&) {
  return "The gradient leaves for the drive: its square is taken while it is on the device.";
}
std::string await_write_text(const Context&) {
  return "Staging buffers are needed again: the host waits until what is in them is written.";
}
std::string await_read_text(const Context&) {
  return "A processor updates next what comes from the drive: the host waits until it is there.";
}

const std::vector<std::string>& drive_keys() {
  static const std::vector<std::string> keys{"offload.optimizer", "offload.buffers", "offload.pipeline_read",
                                             "offload.pipeline_write", "parallel.zero"};
  return keys;
}

std::string gradients_back_text(const Context&) {
  return "The gradient comes back from host memory: DeepSpeed adds micro-batches, and makes float32, on the "
         "device.";
}
std::string send_text(const Context&) {
  return "The optimizer works in host memory: this rank's elements of the averages go there.";
}
std::string widen_text(const Context&) {
  return "The optimizer works in float32, which is made on the device before it is sent.";
}
std::string round_text(const Context&) {
  return "A processor rounds the updated float32 elements into what is gathered.";
}
std::string update_text(const Context&) {
  return "The updated elements come back from host memory.";
}

const std::vector<std::string>& offload_keys() {
  static const std::vector<std::string> keys{"offload.optimizer", "offload.parameters", "offload.pin"};
  return keys;
}

const std::vector<std::string>& zero_keys() {
  static const std::vector<std::string> keys{"parallel.zero", "parallel.strategy"};
  return keys;
}

std::vector<ReasonRule> own_rules() {
  using K = InstructionKind;
  return {
      {K::Pack, gathers_together,
       [](const Context&) -> std::string {
         return "Several parameters are gathered by one call: their shards are copied side by side.";
       },
       zero_keys()},
      {K::Pack, writes_bucket,
       [](const Context&) -> std::string {
         return "These gradients are complete: they move into the bucket, and their own memory goes.";
       },
       zero_keys()},
      {K::Pack, nullptr,
       [](const Context&) -> std::string {
         return "A reduce-scatter gives each rank one part: the bucket's gradients are copied rank by rank.";
       },
       zero_keys()},
      {K::AllGather, gathers_among_neighbours,
       [](const Context& c) -> std::string {
         return fmt::format(
             "{} neighbours have kept all of it between them since it was given back: the "
             "other ranks are not asked.",
             group_size(c));
       },
       zero_keys()},
      {K::AllGather, gathers_together,
       [](const Context&) -> std::string {
         return "The trace of the first pass says that these are needed next: they are gathered together, "
                "ahead "
                "of their modules where the prefetch bucket allows it.";
       },
       zero_keys()},
      {K::AllGather, is_after_update,
       [](const Context&) -> std::string {
         return "Small parameters stay whole: after the update they are gathered for the next step.";
       },
       zero_keys()},
      {K::AllGather, nullptr, gather_text, zero_keys()},
      {K::Unpack, unpacks_parameters,
       [](const Context&) -> std::string {
         return "The first of the parameters that were gathered together is needed: each gets memory of its "
                "own.";
       },
       zero_keys()},
      {K::Unpack,
       becomes_sums,
       [](const Context&) -> std::string {
         return "Averages that another dtype has carried become that of the sums before they leave.";
       },
       {"parallel.zero", "offload.optimizer"}},
      {K::Unpack,
       nullptr,
       [](const Context&) -> std::string { return "This rank keeps the averages of its own elements."; },
       {"parallel.strategy"}},
      {K::Accumulate,
       nullptr,
       [](const Context&) -> std::string {
         return "Micro-batches are added up in this rank's elements: whole gradients do not stay.";
       },
       {"train.accumulation", "parallel.zero"}},
      {K::ReduceScatter, nullptr,
       [](const Context& c) -> std::string {
         return fmt::format(
             "The next gradient does not fit into the bucket, or backward is over: {} ranks average it, each "
             "receives its elements.",
             group_size(c));
       },
       zero_keys()},
      {K::AllReduce, nullptr,
       [](const Context& c) -> std::string {
         return fmt::format("With reduce_scatter off {} ranks average the whole bucket.", group_size(c));
       },
       zero_keys()},
      {K::Copy, reads_drive, read_text, drive_keys()},
      {K::Copy, writes_gradient, write_gradient_text, drive_keys()},
      {K::Copy, uses_drive, write_text, drive_keys()},
      {K::Copy, goes_into_pool, into_pool_text, drive_keys()},
      {K::Cast, goes_into_pool, into_pool_text, drive_keys()},
      {K::GradientNorms, nullptr, square_text, drive_keys()},
      {K::HostWait, awaits_write, await_write_text, drive_keys()},
      {K::HostWait, awaits_drive, await_read_text, drive_keys()},
      {K::Copy, brings_gradients, gradients_back_text, {"offload.optimizer", "train.accumulation"}},
      {K::Copy, brings_update, update_text, offload_keys()},
      {K::Copy, comes_from_host, from_host_text, offload_keys()},
      {K::Cast, comes_from_host, update_text, offload_keys()},
      {K::Copy, sends_in_step, send_text, offload_keys()},
      {K::Cast, sends_in_step, send_text, offload_keys()},
      {K::Copy, is_done_on_host, round_text, offload_keys()},
      {K::Cast, is_done_on_host, round_text, offload_keys()},
      {K::Cast, widens_on_device, widen_text, offload_keys()},
      {K::Cast,
       casts_bucket,
       [](const Context&) -> std::string {
         return "Gradients are sent in communication_data_type: a copy is made, and made back where they go "
                "on.";
       },
       {"parallel.zero"}},
      {K::HostWait, awaits_secondary,
       [](const Context&) -> std::string {
         return "DeepSpeed's host waits for every copy of a secondary shard before it goes on.";
       },
       zero_keys()},
      {K::HostWait, awaits_copy, host_wait_text, offload_keys()},
      {K::HostWait,
       nullptr,
       [](const Context&) -> std::string {
         return "At most two gathers and two reductions may be pending; the end of backward waits for all.";
       },
       {"parallel.strategy"}},
      {K::Alloc, keeps_memory,
       [](const Context&) -> std::string {
         return "The bucket's memory lives as long as the run, whatever lies in it.";
       },
       zero_keys()},
      {K::Alloc, nullptr,
       [](const Context&) -> std::string { return "The bucket's memory is filled with the next gradients."; },
       zero_keys()},
      {K::Copy, cuts_secondary,
       [](const Context&) -> std::string {
         return "The parameter is given back for the first time in this step: each rank keeps a part of it "
                "(zero_hpz_partition_size), so that its next gather stays among neighbours.";
       },
       zero_keys()},
      {K::Copy, nullptr, cast_text, {"parallel.strategy"}},
      {K::Cast, nullptr, cast_text, {"precision.param", "parallel.strategy"}},
  };
}

std::span<const ReasonRule> rules() {
  static const std::vector<ReasonRule> table = [] {
    std::vector<ReasonRule> all = quantized_reasons();
    const std::vector<ReasonRule> own = own_rules();
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }();
  return table;
}

}  // namespace

extern const StrategyReasons k_zero3_reasons{"DeepSpeed 0.19.8's ZeRO-3", rules};

}  // namespace shardlab
