// DistributedDataParallel: buckets of gradients.
#include <fmt/format.h>

#include "engine/reasons/parameters_reason.h"
#include "engine/reasons/reason_rule.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {
namespace {

using Context = InstructionContext;

std::string pack_text(const Context& c) {
  const Buffer& bucket = c.step.buffer(c.self().writes.front());
  const auto before = previous_compute(c);
  return fmt::format(
      "{} left the last gradients of the {} parameters of {}: they are copied into it, to go out together.",
      before ? label(c, *before) : "Backward", bucket.parameters.size(), bucket.name);
}

std::string reduce_text(const Context& c) {
  const auto next = next_compute(c);
  std::string text = fmt::format("{} is complete and all before it have been issued: {} ranks average it",
                                 c.step.buffer(c.self().writes.front()).name, group_size(c));
  return text + (next && c.step.instruction(*next).kind == InstructionKind::Backward
                     ? fmt::format(" while {} goes on.", label(c, *next))
                     : ".");
}

bool makes_bucket(const Context& c) {
  return writes_class(c, BufferClass::reduce_buffer) || writes_class(c, BufferClass::gradient);
}

bool as_view(const Context& c) {
  return c.scenario().parallel->ddp.gradient_as_bucket_view;
}

std::string collect_text(const Context& c) {
  return fmt::format(
      "Gradients of {} live in the buckets: what this backward made is {} there, and its own memory goes.",
      unit_text(c),
      c.self().kind == InstructionKind::Accumulate ? "added to what an earlier micro-batch left" : "copied");
}

bool frees_collected(const Context& c) {
  return as_view(c) && frees_class(c, BufferClass::gradient) &&
         c.step.buffer(c.self().frees.front()).role != BufferRole::first_bucket;
}

bool tells_used(const Context& c) {
  return writes_class(c, BufferClass::scalar);
}

std::string bucket_text(const Context& c) {
  const std::size_t parameters = c.step.buffer(c.self().writes.front()).parameters.size();
  if (c.scenario().parallel->ddp.find_unused_parameters)
    return fmt::format(
        "Buckets are filled in the order of definition and used from its end: where parameters may go "
        "without "
        "a gradient their order is not relied on; this one holds {} parameters.",
        parameters);
  if (c.step.phase == PlanPhase::setup)
    return fmt::format(
        "The first backward uses buckets in the reverse order of definition; this one holds {} parameters.",
        parameters);
  return fmt::format(
      "The first backward showed in which order gradients become ready: from now on buckets follow it; this "
      "one holds {} parameters.",
      parameters);
}

std::span<const ReasonRule> rules() {
  using K = InstructionKind;
  static const std::vector<ReasonRule> table{
      {K::Pack, as_view, collect_text, {"parallel.ddp.gradient_as_bucket_view", "parallel.ddp.bucket_size"}},
      {K::Accumulate,
       as_view,
       collect_text,
       {"parallel.ddp.gradient_as_bucket_view", "train.accumulation", "train.sync"}},
      {K::Copy,
       as_view,
       [](const Context&) -> std::string {
         return "Gradients live in the buckets: they move into the rebuilt ones.";
       },
       {"parallel.ddp.gradient_as_bucket_view"}},
      {K::Free,
       frees_collected,
       [](const Context&) -> std::string { return "They are in the buckets now."; },
       {"parallel.ddp.gradient_as_bucket_view"}},
      {K::Pack,
       nullptr,
       pack_text,
       {"parallel.ddp.bucket_size", "parallel.ddp.first_bucket_size", "train.sync"}},
      {K::AllReduce,
       tells_used,
       [](const Context&) -> std::string {
         return "Which parameters got a gradient is told behind the last bucket: one that no rank used keeps "
                "the gradient that it had.";
       },
       {"parallel.ddp.find_unused_parameters"}},
      {K::AllReduce, nullptr, reduce_text, {"parallel.strategy", "parallel.ddp.bucket_size", "train.sync"}},
      {K::Initialize,
       makes_bucket,
       bucket_text,
       {"parallel.ddp.bucket_size", "parallel.ddp.first_bucket_size"}},
      {K::Initialize,
       [](const Context& c) {
         return writes_class(c, BufferClass::scalar) && c.scenario().parallel->ddp.find_unused_parameters;
       },
       [](const Context&) -> std::string {
         return "Room for a number for each parameter: whether it got a gradient.";
       },
       {"parallel.ddp.find_unused_parameters"}},
      {K::Initialize,
       [](const Context& c) { return writes_class(c, BufferClass::scalar); },
       [](const Context&) -> std::string {
         return "The order of the gradients as this rank saw it, to be told to the others.";
       },
       {"parallel.strategy"}},
      {K::Broadcast,
       nullptr,
       [](const Context&) -> std::string {
         return "Buckets are rebuilt once, after the first backward; all ranks take the order and the sizes "
                "that rank 0 found.";
       },
       {"parallel.strategy", "parallel.ddp.bucket_size"}},
      {K::Unpack,
       nullptr,
       [](const Context&) -> std::string {
         return "The averages go back to the gradients of the parameters, which have memory of their own.";
       },
       {"parallel.ddp.gradient_as_bucket_view"}},
  };
  return table;
}

constexpr std::string_view k_cut_keys[] = {"parallel.ddp.bucket_size", "parallel.ddp.first_bucket_size"};

}  // namespace

extern constexpr StrategyReasons k_ddp_reasons{"the schedule of torch 2.11's DistributedDataParallel", rules,
                                               k_cut_keys};

}  // namespace shardlab
