#include <nlohmann/json.hpp>

#include "engine/formats/launchers/launcher_targets.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

using Subject = ExportSubject;

constexpr ToolKey k_keys[] = {
    {"--nnodes", "cluster.nodes", [](const Subject& s) -> ToolValue { return nodes(s); }, "1"},
    {"--nproc-per-node", "cluster.gpus_per_node",
     [](const Subject& s) -> ToolValue { return ranks_per_node(s); }, "1"},
    {"--rdzv-endpoint", "launch.master",
     [](const Subject& s) -> ToolValue { return s.scenario.launch->master; }, "this machine"},
    {"OMP_NUM_THREADS", "cluster.threads_per_rank",
     [](const Subject& s) -> ToolValue { return s.scenario.cluster->threads_per_rank; }, "1"},
    {"PYTORCH_ALLOC_CONF", "cluster.allocator.conf",
     [](const Subject& s) -> ToolValue { return s.scenario.cluster->allocator_conf; }, "torch's defaults"},
    {"NCCL_SOCKET_IFNAME", "launch.interface",
     [](const Subject& s) -> ToolValue { return s.scenario.launch->interface; }, "chosen by the library"},
    {"export", "launch.env", [](const Subject& s) -> ToolValue { return s.scenario.launch->environment; },
     "nothing"},
    {"ranks", "cluster.ranks", [](const Subject& s) -> ToolValue { return world_size(s.scenario); }, "1"},
};

constexpr SettingRule of_the_program(std::string_view setting) {
  return {setting, DifferenceKind::elsewhere, nullptr, {}};
}

// What trains, and how it is sharded, stands in the program that the script starts: other targets say it.
constexpr SettingRule k_rules[] = {
    of_the_program("parallel"),   of_the_program("precision"), of_the_program("scaler"),
    of_the_program("activation"), of_the_program("offload"),   of_the_program("train"),
    of_the_program("checkpoint"), of_the_program("model"),     of_the_program("distillation"),
    of_the_program("cluster"),
};

}  // namespace

std::span<const ToolKey> launcher_keys() {
  return k_keys;
}

std::span<const SettingRule> launcher_rules() {
  return k_rules;
}

}  // namespace shardlab
