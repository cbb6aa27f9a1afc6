// DistributedDataParallel: buckets of gradients.
#include <fmt/format.h>

#include "engine/report/explain/parameters_reason.h"
#include "engine/report/explain/reason.h"

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

const std::vector<ReasonRule>& rules() {
  using K = InstructionKind;
  static const std::vector<ReasonRule> table{
      {K::Pack,
       nullptr,
       pack_text,
       {"parallel.ddp.bucket_size", "parallel.ddp.first_bucket_size", "train.sync"}},
      {K::AllReduce, nullptr, reduce_text, {"parallel.strategy", "parallel.ddp.bucket_size", "train.sync"}},
      {K::Unpack,
       nullptr,
       [](const Context&) -> std::string {
         return "The averages go back to the gradients of the parameters, which have memory of their own.";
       },
       {"parallel.ddp.gradient_as_bucket_view"}},
  };
  return table;
}

}  // namespace

std::span<const ReasonRule> ddp_reasons() {
  return rules();
}

}  // namespace shardlab
