#include "engine/formats/accelerate/accelerate_keys.h"
#include "engine/formats/accelerate/accelerate_settings.h"

#include <cstdint>

#include <nlohmann/json.hpp>

#include "engine/base/parse.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

using Subject = ExportSubject;

ToolValue distributed_type(const Subject& s) {
  if (is_fsdp(s)) return "FSDP";
  if (framework(s) == Framework::deepspeed) return "DEEPSPEED";
  if (world_size(s.scenario) == 1) return "NO";
  return on_processors(s) ? "MULTI_CPU" : "MULTI_GPU";
}

// With a file of its own DeepSpeed decides the precision, and accelerate refuses a second opinion.
ToolValue precision_word(const Subject& s) {
  if (framework(s) == Framework::deepspeed) return nullptr;
  const auto dtype = mixed_precision(s);
  if (!dtype) return "no";
  return *dtype == DType::bfloat16 ? "bf16" : "fp16";
}

constexpr std::int64_t k_port = 29500;

// The host of "host" or "host:port".
std::string host_of(const std::string& master) {
  return master.substr(0, master.rfind(':'));
}

std::int64_t port_of(const std::string& master) {
  const std::size_t colon = master.rfind(':');
  return colon == std::string::npos ? k_port : parse_integer(master.substr(colon + 1)).value_or(k_port);
}

ToolValue main_process_ip(const Subject& s) {
  const std::string& master = s.scenario.launch->master;
  return master.empty() ? ToolValue() : ToolValue(host_of(master));
}

ToolValue main_process_port(const Subject& s) {
  const std::string& master = s.scenario.launch->master;
  return nodes(s) == 1 && master.empty() ? ToolValue() : ToolValue(port_of(master));
}

// Replicas of a sharded model exist under FSDP2 as a mesh; under FSDP1 each node is a replica.
bool has_replicas_by_mesh(const Subject& s) {
  return framework(s) == Framework::fsdp2 && resolve_mesh(s.scenario).replicate > 1;
}

ToolValue replicas(const Subject& s) {
  return has_replicas_by_mesh(s) ? ToolValue(resolve_mesh(s.scenario).replicate) : nullptr;
}

ToolValue shards(const Subject& s) {
  return has_replicas_by_mesh(s) ? ToolValue(resolve_mesh(s.scenario).shard) : nullptr;
}

constexpr ToolKey k_top_keys[] = {
    {"compute_environment", "", [](const Subject&) -> ToolValue { return "LOCAL_MACHINE"; }, "LOCAL_MACHINE"},
    {"distributed_type", "parallel.strategy", distributed_type, "an error", read_distributed_type},
    {"mixed_precision", "precision.param", precision_word, "no", read_mixed_precision},
    {"num_machines", "cluster.nodes", [](const Subject& s) -> ToolValue { return nodes(s); }, "1",
     read_machines},
    {"machine_rank", "", [](const Subject&) -> ToolValue { return 0; }, "0"},
    {"num_processes", "cluster.gpus_per_node",
     [](const Subject& s) -> ToolValue { return world_size(s.scenario); }, "an error at launch",
     read_processes},
    {"main_process_ip", "launch.master", main_process_ip, "this machine", read_master},
    {"main_process_port", "", main_process_port, "29500"},
    {"rdzv_backend", "", [](const Subject& s) -> ToolValue { return nodes(s) > 1 ? "c10d" : "static"; },
     "static"},
    {"same_network", "", [](const Subject&) -> ToolValue { return true; }, "false"},
    {"main_training_function", "", [](const Subject&) -> ToolValue { return "main"; }, "main"},
    {"use_cpu", "cluster.device", [](const Subject& s) -> ToolValue { return on_processors(s); }, "false",
     read_use_cpu},
    {"parallelism_config.parallelism_config_dp_replicate_size", "parallel.mesh.replicate", replicas, "1",
     read_mesh_size},
    {"parallelism_config.parallelism_config_dp_shard_size", "parallel.mesh.shard", shards, "1",
     read_mesh_size},
};

constexpr ToolKey k_deepspeed_keys[] = {
    {"deepspeed_config_file", "", [](const Subject& s) -> ToolValue { return deepspeed_file_name(s); },
     "none"},
    {"zero3_init_flag", "",
     [](const Subject& s) -> ToolValue { return facts_of(s.scenario).zero_stage == 3; },
     "true under stage 3"},
};

}  // namespace

std::span<const ToolKey> accelerate_keys() {
  return k_top_keys;
}

std::span<const ToolKey> accelerate_deepspeed_keys() {
  return k_deepspeed_keys;
}

std::string deepspeed_file_name(const ExportSubject& subject) {
  return subject.stem + ".deepspeed.json";
}

}  // namespace shardlab
