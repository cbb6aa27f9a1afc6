#include "engine/doctor/machine/machine_questions.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/doctor/machine/machine_evidence.h"

namespace shardlab {

bool spans_hosts(const std::vector<MachineFacts>& machines) {
  constexpr auto k_counts = std::to_array<std::string_view>(
      {"SLURM_STEP_NUM_NODES", "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "GROUP_WORLD_SIZE"});
  std::set<std::string> hosts;
  for (const MachineFacts& machine : machines) {
    hosts.insert(machine.host);
    for (const std::string_view name : k_counts) {
      const std::string* value = variable(machine, name);
      const auto count = value == nullptr ? Result<std::int64_t>(1) : parse_integer(*value);
      if (count && *count > 1) return true;
    }
  }
  return hosts.size() > 1;
}

std::vector<FabricPort> active_ports(const MachineFacts& machine) {
  std::vector<FabricPort> active;
  std::copy_if(machine.fabric.begin(), machine.fabric.end(), std::back_inserter(active),
               [](const FabricPort& port) { return port.is_active(); });
  return active;
}

std::string count_of_gpus(const MachineFacts& machine) {
  return fmt::format("{} GPU{}", machine.gpus.size(), machine.gpus.size() == 1 ? "" : "s");
}

bool is_switched_on(const MachineFacts& machine, std::string_view name) {
  const std::string* value = variable(machine, name);
  return value != nullptr && *value != "0";
}

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.size(), text.find(','));
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return parts;
}

NcclList nccl_list(std::string_view text) {
  NcclList list;
  for (bool* mark : {&list.excludes, &list.is_exact}) {
    const char expected = mark == &list.excludes ? '^' : '=';
    *mark = text.starts_with(expected);
    if (*mark) text.remove_prefix(1);
  }
  for (const std::string& part : listed(text)) list.names.push_back(part.substr(0, part.find(':')));
  return list;
}

bool is_named(const NcclList& list, std::string_view name) {
  return std::any_of(list.names.begin(), list.names.end(), [&](const std::string& each) {
    return list.is_exact ? name == each : name.starts_with(each);
  });
}

}  // namespace shardlab
