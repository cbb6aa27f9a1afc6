#include "engine/strategies/zero3/check_swap.h"

#include <fmt/format.h>

#include "engine/plan/optimizer_rule.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/zero_options.h"
#include "engine/strategies/zero3/swap_rules.h"

namespace shardlab {

Status check_staging_buffers(const Scenario& scenario, const ModelGraph& graph) {
  const OffloadSpec& offload = *scenario.offload;
  if (offload.optimizer != OffloadTarget::nvme) return {};
  const SubGroups groups(graph, UnitId{0}, resolve_mesh(scenario).shard,
                         zero_options(scenario).sub_group_size);
  const SwapRules rules(offload);
  std::size_t swapped = 0;
  for (std::size_t group = 0; group < groups.count(); ++group)
    swapped += rules.is_swapped(elements_of_group(groups, group)) ? 1U : 0U;
  const std::size_t needed =
      least_staging_buffers(rules, optimizer_rule(*scenario.train).states.size(), swapped);
  if (staging_buffers(offload) >= needed) return {};
  return bad_input(
      "offload.buffers",
      fmt::format(
          "{} staging buffers{}, and an update of {} sub-groups on a drive needs {} at once: DeepSpeed "
          "runs out of them in its first steps",
          staging_buffers(offload), offload.buffers == 0 ? " are the framework's number" : "", swapped,
          needed),
      fmt::format("set offload.buffers: {}", needed));
}

}  // namespace shardlab
