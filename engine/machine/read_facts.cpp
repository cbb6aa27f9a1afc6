#include "engine/machine/read_facts.h"

#include <algorithm>

#include "engine/base/parse.h"
#include "engine/machine/gpu_tables.h"
#include "engine/machine/limit_texts.h"
#include "engine/machine/network_texts.h"
#include "engine/machine/text_lines.h"

namespace shardlab {
namespace {

using namespace machine_text;

class Texts {
 public:
  explicit Texts(const MachineTexts& texts) : texts_(texts) {}
  const std::string& operator[](std::string_view name) const {
    static const std::string k_nothing;
    const auto found = texts_.find(name);
    return found == texts_.end() ? k_nothing : found->second;
  }
  bool has(std::string_view name) const { return texts_.contains(name); }

 private:
  const MachineTexts& texts_;
};

std::map<std::string, std::string, std::less<>> pairs_of(const std::string& text, std::string_view between) {
  std::map<std::string, std::string, std::less<>> pairs;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t at = line.find(between);
    if (at != std::string_view::npos && at > 0)
      pairs.emplace(line.substr(0, at), line.substr(at + between.size()));
  }
  return pairs;
}

std::optional<int> rank_of(const MachineFacts& facts) {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    const auto found = facts.environment.find(name);
    if (found == facts.environment.end()) continue;
    const auto rank = parse_integer(found->second);
    if (rank && *rank >= 0 && *rank < (1 << 24)) return static_cast<int>(*rank);
  }
  return std::nullopt;
}

void read_gpus(MachineFacts& facts, const Texts& texts) {
  facts.says_gpus = texts.has(k_gpus);
  facts.gpus = gpus_of(texts[k_gpus]);
  facts.gpu_processes = gpu_processes_of(texts[k_gpu_processes]);
  facts.links = gpu_matrix_of(texts[k_topology]);
  facts.peer_access = gpu_matrix_of(texts[k_peer_access]);
  facts.driver = word_after(texts[k_driver], "Driver Version:");
  facts.driver_cuda = word_after(texts[k_driver], "CUDA Version:");
}

void read_network(MachineFacts& facts, const Texts& texts) {
  facts.interfaces = interfaces_of(texts[k_interfaces]);
  for (const std::string_view line : lines_of(texts[k_host_addresses]))
    facts.host_addresses.emplace_back(trimmed(line));
  facts.fabric = fabric_of(texts[k_fabric]);
  facts.listening = listening_of(texts[k_listening]);
  facts.head = head_of(texts[k_head]);
}

void read_limits(MachineFacts& facts, const Texts& texts) {
  facts.shared_memory = size_of_mount(texts[k_shared_memory]);
  facts.memory = total_memory(texts[k_memory]);
  facts.memory_limit = bytes_in(texts[k_memory_limit]);
  if (facts.memory && facts.memory_limit && *facts.memory_limit >= *facts.memory) facts.memory_limit.reset();
  if (facts.memory_limit) facts.memory_used = bytes_in(texts[k_memory_used]);
  facts.open_files = limit_of(texts[k_limits], "Max open files");
  if (const auto locked = limit_of(texts[k_limits], "Max locked memory"))
    facts.locked_memory = Bytes{*locked};
  for (const std::string_view line : lines_of(texts[k_modules]))
    facts.modules.emplace_back(line.substr(0, line.find(' ')));
}

}  // namespace

MachineFacts read_facts(const RecordedMachine& machine, const KnownVariables& known) {
  const Texts texts(machine.texts);
  MachineFacts facts;
  facts.source = machine.source;
  facts.host = trimmed(texts[k_hostname]);
  facts.environment = pairs_of(texts[k_environment], "=");
  for (const auto& [name, value] : facts.environment) {
    if (auto strange = strange_variable(name, known)) facts.strange_variables.push_back(*std::move(strange));
  }
  facts.rank = rank_of(facts);
  facts.packages = pairs_of(texts[k_packages], "==");
  read_gpus(facts, texts);
  read_network(facts, texts);
  read_limits(facts, texts);
  return facts;
}

int visible_gpus(const MachineFacts& machine) {
  const int all = static_cast<int>(machine.gpus.size());
  const auto found = machine.environment.find("CUDA_VISIBLE_DEVICES");
  if (found == machine.environment.end()) return all;
  if (found->second.empty() || found->second == "-1" || found->second == "NoDevFiles") return 0;
  const auto named = 1 + std::count(found->second.begin(), found->second.end(), ',');
  return std::min(all, static_cast<int>(named));
}

}  // namespace shardlab
