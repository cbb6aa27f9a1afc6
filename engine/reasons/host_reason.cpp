#include "engine/reasons/host_reason.h"

#include <fmt/format.h>

#include "engine/plan/transfers.h"

namespace shardlab {
namespace {

std::string pages_text(MemorySpace space) {
  return space == MemorySpace::pinned_host ? "page-locked memory"
                                           : "pageable memory, so the host waits for it";
}

}  // namespace

bool comes_from_host(const InstructionContext& c) {
  const auto pair = transfer_of(c.step, c.self());
  return pair && is_host(pair->from);
}

bool goes_to_host(const InstructionContext& c) {
  const auto pair = transfer_of(c.step, c.self());
  return pair && is_host(pair->to);
}

bool awaits_copy(const InstructionContext& c) {
  return !c.self().waits.empty() &&
         transfer_of(c.step, c.step.instruction(c.self().waits.front())).has_value();
}

bool is_done_on_host(const InstructionContext& c) {
  return runs_on_host(c.step, c.self());
}

std::string from_host_text(const InstructionContext& c) {
  return fmt::format(
      "{} rests in host memory: its shard is copied to the device, as it is stored, each time it "
      "is needed ({}).",
      unit_text(c), pages_text(transfer_of(c.step, c.self())->from));
}

std::string to_host_text(const InstructionContext& c) {
  return fmt::format("The optimizer works in host memory: the reduced gradient of {} goes there ({}).",
                     unit_text(c), pages_text(transfer_of(c.step, c.self())->to));
}

std::string host_wait_text(const InstructionContext&) {
  return "A processor reads next what this leaves in host memory: the host waits until it is done.";
}

}  // namespace shardlab
