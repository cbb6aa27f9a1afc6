#include <algorithm>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/formats/launchers/launch_script.h"
#include "engine/formats/launchers/script_environment.h"

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

void read_launch_script(const LaunchScript& script, const ImportSubject& subject, ImportReading& reading) {
  read_cluster(script, reading);
  read_meeting(script, reading);
  read_script_environment(script, subject, reading);
  list_rest(script, reading);
}

}  // namespace shardlab
