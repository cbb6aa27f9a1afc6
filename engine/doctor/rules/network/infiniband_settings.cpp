// Settings of InfiniBand.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule adapters_not_chosen() {
  return {
      .id = "network/adapters-not-chosen",
      .codes = {"D-25"},
      .title = "no adapter is chosen",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::environment},
      .source = "NCCL's NCCL_IB_HCA",
      .message = "The node has several adapters and none is named.",
      .explanation = "NCCL takes all that it finds; storage or management ports among them slow it down.",
      .fix = {.kind = FixKind::environment, .text = "name adapters and ports, NCCL_IB_HCA=mlx5_0:1,mlx5_1:1"},
      .example = "a node with mlx5_0 to mlx5_8, one of them for storage",
  };
}

Rule infiniband_settings_differ() {
  return {
      .id = "network/infiniband-settings-differ",
      .codes = {"S-05"},
      .title = "InfiniBand settings differ between nodes, or name what is not there",
      .severity = Severity::warning,
      .needs = {Need::environment, Need::log},
      .source = "NCCL's environment variables",
      .message =
          "A setting of InfiniBand names a device, port or GID that does not exist, or differs between "
          "nodes.",
      .explanation = "NCCL_IB_HCA, NCCL_IB_SL, NCCL_IB_TC and the GID index must fit every node.",
      .fix = {.kind = FixKind::environment,
              .text = "list the values by node and make them fit (show_gids names the index of RoCE v2)"},
      .example = "NCCL WARN NET/IB : NCCL_IB_HCA mlx5_9 matches no device",
      .signs =
          {
              {.pattern = "nccl_ib_hca*no device", .certainty = 85},
              {.pattern = "nccl_ib_hca*not found", .certainty = 85},
              {.pattern = "nccl_ib_hca*no*match", .certainty = 85},
              {.pattern = "call to ibv_modify_qp failed*invalid argument", .certainty = 92},
              {.pattern = "ibv_modify_qp failed with error invalid argument", .certainty = 93},
              {.pattern = "ibv_modify_qp failed with*network is unreachable", .certainty = 92},
              {.pattern = "ibv_modify_qp failed with*no data available", .certainty = 91},
              {.pattern = "ibv_modify_qp failed with 22", .certainty = 92},
              {.pattern = "ibv_modify_qp failed with 101", .certainty = 91},
              {.pattern = "ibv_modify_qp failed with 61", .certainty = 91},
              {.pattern = "ibv_query_gid*failed", .certainty = 92},
              {.pattern = "gid index*not", .certainty = 80},
              {.pattern = "gid table changed", .certainty = 60},
              {.pattern = "localgid ::*", .certainty = 70},
          },
  };
}

}  // namespace

std::vector<Rule> network_infiniband_settings_rules() {
  return {adapters_not_chosen(), infiniband_settings_differ()};
}

}  // namespace shardlab
