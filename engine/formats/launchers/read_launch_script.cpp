#include <algorithm>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/formats/launchers/launch_script.h"

namespace shardlab {
namespace {

void put(ImportReading& reading, std::string key, YamlNode value, const Place& place, std::string from) {
  ImportedSetting setting;
  setting.key = std::move(key);
  setting.value = std::move(value);
  setting.value.place = place;
  setting.from = std::move(from);
  reading.set(std::move(setting));
}

Place place_of(const LaunchScript& script, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const ForeignValue* const value = script.options.find(key)) return value->place;
    if (const ForeignValue* const value = script.batch.find(key)) return value->place;
  }
  return script.place;
}

void read_cluster(const LaunchScript& script, ImportReading& reading) {
  // accelerate launch counts all ranks, its own keys say them.
  if (script.launcher == RankStarter::accelerate) return;
  const ImportedRanks ranks = launched_ranks(script);
  if (ranks.nodes)
    put(reading, "cluster.nodes", yaml_scalar(std::to_string(*ranks.nodes)),
        place_of(script, {"nnodes", "num_nodes", "nodes"}), "--nnodes");
  if (ranks.per_node)
    put(reading, "cluster.gpus_per_node", yaml_scalar(std::to_string(*ranks.per_node)),
        place_of(script, {"nproc_per_node", "num_gpus", "gpus_per_node", "gres"}), "--nproc-per-node");
}

// host:port of the rendezvous; a variable leaves it to the run.
void read_meeting(const LaunchScript& script, ImportReading& reading) {
  const ForeignValue* const endpoint = script.options.find("rdzv_endpoint");
  const ForeignValue* const address = script.options.find("master_addr");
  const ForeignValue* const said = endpoint != nullptr ? endpoint : address;
  if (said == nullptr || said->flag || said->text.empty()) return;
  const ForeignValue* const port = script.options.find("master_port");
  const bool joined = endpoint == nullptr && port != nullptr && !port->flag;
  put(reading, "launch.master", yaml_scalar(joined ? said->text + ":" + port->text : said->text, true),
      said->place, endpoint != nullptr ? "--rdzv-endpoint" : "--master-addr");
}

void read_environment(const LaunchScript& script, ImportReading& reading) {
  YamlNode variables;
  variables.kind = YamlNode::Kind::map;
  Place place = script.place;
  static constexpr std::string_view k_allocator[] = {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"};
  static constexpr std::string_view k_interface[] = {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"};
  static constexpr std::string_view k_threads = "OMP_NUM_THREADS";
  const auto is_one_of = [](const auto& names, const std::string& name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  for (const auto& [name, value] : script.environment) {
    if (value.flag) continue;  // what it is, is known when it runs
    if (is_one_of(k_allocator, name)) {
      put(reading, "cluster.allocator.conf", yaml_scalar(value.text, true), value.place, name);
    } else if (is_one_of(k_interface, name)) {
      put(reading, "launch.interface", yaml_scalar(value.text, true), value.place, name);
    } else if (k_threads.compare(name) != 0 &&
               (name.find("NCCL") != std::string::npos || name.find("TORCH") != std::string::npos ||
                name.find("CUDA") != std::string::npos)) {
      variables.entries.push_back({name, value.place, yaml_scalar(value.text, true)});
      place = value.place;
    }
  }
  if (!variables.entries.empty()) put(reading, "launch.env", std::move(variables), place, "export");
}

void list_rest(const LaunchScript& script, ImportReading& reading) {
  static constexpr std::string_view k_read[] = {
      "nnodes",        "nproc_per_node", "num_nodes",   "num_gpus", "num_accelerators",
      "rdzv_endpoint", "master_addr",    "master_port", "nodes",    "gpus_per_node",
      "gres",          "config_file"};
  const auto list = [&](const ForeignValue& map, std::string_view start) {
    for (const ForeignEntry& entry : map.entries) {
      if (std::find(std::begin(k_read), std::end(k_read), entry.key) != std::end(k_read)) continue;
      const bool counts = entry.key.starts_with("ntasks");
      reading.differences.push_back(
          {std::string(start) + entry.key, DifferenceKind::elsewhere, shown(entry.value), "",
           counts ? "how often srun starts what it is given" : "nothing of a step depends on it",
           entry.place});
    }
  };
  if (script.launcher != RankStarter::accelerate) list(script.options, "--");
  list(script.batch, "#SBATCH --");
}

}  // namespace

void read_launch_script(const LaunchScript& script, const ImportSubject&, ImportReading& reading) {
  read_cluster(script, reading);
  read_meeting(script, reading);
  read_environment(script, reading);
  list_rest(script, reading);
}

}  // namespace shardlab
