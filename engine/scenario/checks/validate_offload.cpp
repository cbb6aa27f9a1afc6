// What is kept in host memory: settings that a framework does not have, or that have no effect.
#include <fmt/format.h>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/complaints.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {

namespace {

constexpr std::int64_t k_page = 4096;

// The first that swaps.
std::string_view swapping_strategy() {
  for (const KnownStrategy& strategy : known_strategies())
    if (strategy.facts->swaps_optimizer) return strategy.name;
  return "another";
}

// A drive, and what is said of it.
void validate_drive(Complaints& c) {
  const OffloadSpec& offload = *c.scenario.offload;
  if (offload.optimizer == OffloadTarget::nvme) {
    const StrategyFacts& facts = facts_of(c.scenario);
    const std::string_view why =
        facts.zero_stage == 1 || facts.zero_stage == 2
            ? "nvme: below stage 3 DeepSpeed keeps the state in host memory, whatever its device says"
            : "nvme: DeepSpeed's stage 3 alone keeps the optimizer's state on a drive";
    if (!facts.swaps_optimizer)
      c.refuse("offload.optimizer", std::string(why),
               fmt::format("set parallel.strategy: {}, or offload.optimizer: cpu", swapping_strategy()));
    if (offload.aio.block_size.value < k_page || offload.aio.block_size.value % k_page != 0)
      c.refuse("offload.aio.block_size", "a drive is read and written in pages of 4096 bytes",
               "give a multiple of 4096; DeepSpeed's default is 1048576");
    return;
  }
  if (offload.parameters == OffloadTarget::nvme) return;  // refused for itself
  const auto refuse = [&](bool given, const char* key) {
    if (given)
      c.refuse(key, "has no effect: nothing lies on a drive", "remove it, or set offload.optimizer: nvme");
  };
  const OffloadSpec defaults;
  refuse(offload.buffers != defaults.buffers, "offload.buffers");
  refuse(offload.pipeline_read, "offload.pipeline_read");
  refuse(offload.pipeline_write, "offload.pipeline_write");
  refuse(offload.aio != defaults.aio, "offload.aio");
  refuse(c.scenario.cluster->nvme != NvmeSpec{}, "cluster.nvme");
}

}  // namespace

void validate_offload(Complaints& c) {
  validate_drive(c);
  const OffloadSpec& offload = *c.scenario.offload;
  const std::string_view why = facts_of(c.scenario).why_no_optimizer_offload;
  if (offload.optimizer != OffloadTarget::none && !why.empty())
    c.refuse("offload.optimizer", std::string(why), "remove it, and set offload.parameters: cpu");
  const std::string_view why_not = facts_of(c.scenario).why_no_parameter_offload;
  if (offload.parameters == OffloadTarget::cpu && !why_not.empty())
    c.refuse("offload.parameters", std::string(why_not), "use offload.optimizer: cpu");
  const bool offloads = offload.parameters != OffloadTarget::none || offload.optimizer != OffloadTarget::none;
  if (!offload.pin && !offloads)
    c.refuse("offload.pin", "has no effect: nothing is offloaded",
             "remove it, or set offload.parameters: cpu");
}

}  // namespace shardlab
