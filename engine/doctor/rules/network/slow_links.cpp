// Links that are slower than they should be.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule slow_links() {
  return {
      .id = "network/slow-links",
      .codes = {"D-13"},
      .title = "links between nodes are slower than their profile",
      .severity = Severity::warning,
      .needs = {Need::measurement},
      .threshold = "below 70 % of the profile (a proposal, to be tuned)",
      .source = "nccl-tests; shardlab calibrate",
      .message = "The measured bus bandwidth is below the profile's.",
      .explanation = "A profile from data sheets is optimistic; a link that is down halves what is left.",
      .fix = {.kind = FixKind::command,
              .text = "measure with `shardlab calibrate` or nccl-tests and use the result"},
      .example = "a bus bandwidth of 90 GB/s where the profile says 180",
  };
}

Rule slow_protocol() {
  return {
      .id = "network/slow-protocol",
      .codes = {"E-28"},
      .title = "TCP between nodes that have InfiniBand",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::environment},
      .source = "NCCL's transports",
      .message = "Nodes talk through TCP although they have RDMA.",
      .explanation = "Sockets reach a fraction of the rate and cost processor time.",
      .fix = {.kind = FixKind::environment,
              .text = "use InfiniBand or RoCE: NCCL_IB_DISABLE unset, devices in the container"},
      .example = "a cluster with InfiniBand and NCCL_IB_DISABLE=1",
  };
}

}  // namespace

std::vector<Rule> network_slow_links_rules() {
  return {slow_links(), slow_protocol()};
}

}  // namespace shardlab
