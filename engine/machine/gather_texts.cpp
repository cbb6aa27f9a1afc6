#include "engine/machine/gather_texts.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/machine/gather_network.h"
#include "engine/machine/head_contact.h"
#include "engine/machine/kernel_file.h"
#include "engine/machine/limit_texts.h"
#include "engine/machine/text_lines.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;
using namespace machine_text;
using Variables = std::map<std::string, std::string, std::less<>>;

bool begins_with_one_of(std::string_view name, const auto& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

bool concerns_training(const std::string& name) {
  constexpr auto k_beginnings = std::to_array<std::string_view>(
      {"NCCL_",    "TORCH",        "PYTORCH_",    "GLOO_",      "CUDA_",  "NVIDIA_",
       "OMP_",     "MKL_",         "RANK",        "WORLD_",     "LOCAL_", "GROUP_",
       "ROLE_",    "MASTER_",      "SLURM",       "OMPI_",      "PMI",    "UCX_",
       "FI_",      "DS_",          "ACCELERATE_", "FSDP_",      "LD_",    "PYTHONPATH",
       "HOSTNAME", "CONDA_PREFIX", "VIRTUAL_ENV", "DEEPSPEED_", "RDMAV_", "CUBLAS_"});
  constexpr auto k_secrets =
      std::to_array<std::string_view>({"TOKEN", "SECRET", "PASSW", "KEY", "CREDENTIAL"});
  const bool is_secret = std::any_of(k_secrets.begin(), k_secrets.end(), [&](std::string_view word) {
    return name.find(word) != std::string::npos;
  });
  return !is_secret && begins_with_one_of(name, k_beginnings);
}

// A line each; a value of several lines is cut at its first.
std::string environment_text(const Variables& environment) {
  std::string text;
  for (const auto& [name, value] : environment) {
    if (concerns_training(name)) text += name + "=" + value.substr(0, value.find('\n')) + "\n";
  }
  return text;
}

// What a command prints where it ends well; nothing where it is missing, fails or does not end.
std::optional<std::string> output_of(const std::string& command) {
  const std::string limited = "timeout -k 2 10 " + command + " 2>/dev/null </dev/null";
  std::FILE* pipe = popen(limited.c_str(), "r");  // NOLINT(cert-env33-c): the words above and below alone
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 4096> piece{};
  constexpr std::size_t k_most = 1 << 20;
  for (std::size_t size = 0; (size = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    if (text.size() < k_most) text.append(piece.data(), size);
  }
  return pclose(pipe) == 0 ? std::optional(std::move(text)) : std::nullopt;
}

void add_command(MachineTexts& texts, std::string_view name, const std::string& command) {
  if (auto text = output_of(command)) texts[std::string(name)] = *std::move(text);
}

void add_gpus(MachineTexts& texts) {
  add_command(texts, k_driver, "nvidia-smi");
  if (!texts.contains(k_driver)) return;
  add_command(texts, k_gpus,
              "nvidia-smi --query-gpu=index,uuid,name,pci.bus_id,memory.total,memory.used,compute_cap,"
              "pcie.link.width.current,pcie.link.width.max,mig.mode.current --format=csv,nounits");
  add_command(texts, k_gpu_processes,
              "nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv,nounits");
  add_command(texts, k_topology, "nvidia-smi topo -m");
  add_command(texts, k_peer_access, "nvidia-smi topo -p2p r");
}

// The packages' own records are read: importing torch takes seconds, and memory of every GPU.
void add_packages(MachineTexts& texts) {
  add_command(
      texts, k_packages,
      "python3 -c \"import importlib.metadata as m\n"
      "for d in m.distributions():\n"
      "  n = (d.metadata['Name'] or '').lower()\n"
      "  if n.startswith(('torch', 'nvidia-nccl', 'transformers', 'accelerate', 'deepspeed', 'triton',"
      " 'flash', 'bitsandbytes', 'lightning', 'peft', 'trl')): print(n + '==' + d.version)\"");
}

std::string shared_memory_text() {
  struct statvfs mount {};
  if (statvfs("/dev/shm", &mount) != 0) return {};
  const auto total = static_cast<std::uint64_t>(mount.f_blocks) * mount.f_frsize;
  const auto available = static_cast<std::uint64_t>(mount.f_bavail) * mount.f_frsize;
  return fmt::format("Filesystem 1B-blocks Used Available Use% Mounted on\nshm {} {} {} - /dev/shm\n", total,
                     total - available, available);
}

// The group of this process whose limit is the lowest, and what it uses: version 2 of cgroups, then version
// 1.
void add_group_memory(MachineTexts& texts) {
  const std::string groups = kernel_file("/proc/self/cgroup");
  struct Version {
    std::string_view mark, root, limit, used;
  };
  constexpr auto k_versions = std::to_array<Version>(
      {{"0::", "/sys/fs/cgroup", "memory.max", "memory.current"},
       {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"}});
  std::optional<Bytes> lowest;
  for (const Version& version : k_versions) {
    const std::string path = word_after(groups, version.mark);
    for (fs::path at = path.empty() ? "/" : path;; at = at.parent_path()) {
      const fs::path folder = fs::path(version.root) / at.relative_path();
      const std::string limit = kernel_file(folder / version.limit);
      const auto bytes = bytes_in(limit);
      if (bytes && (!lowest || *bytes < *lowest)) {
        lowest = bytes;
        texts[std::string(k_memory_limit)] = limit;
        texts[std::string(k_memory_used)] = kernel_file(folder / version.used);
      }
      if (at == at.parent_path()) break;
    }
  }
}

std::string hostname_text() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) + "\n" : "";
}

void add_head(MachineTexts& texts, const Variables& environment) {
  const auto host = environment.find("MASTER_ADDR"), port = environment.find("MASTER_PORT");
  if (host == environment.end() || port == environment.end()) return;
  const auto number = parse_integer(port->second);
  if (!number || *number < 1 || *number > 65535) return;
  const std::string what(
      to_string(contact_head(host->second, static_cast<int>(*number), std::chrono::seconds(5))));
  texts[std::string(k_head)] = fmt::format("{} {} {}\n", host->second, *number, what);
}

}  // namespace

MachineTexts gather_texts(const Variables& environment) {
  MachineTexts texts;
  const auto add = [&](std::string_view name, std::string text) {
    if (!text.empty()) texts[std::string(name)] = std::move(text);
  };
  const std::string host = hostname_text();
  add(k_hostname, host);
  add(k_environment, environment_text(environment));
  add(k_interfaces, interfaces_text());
  add(k_host_addresses, addresses_text(trimmed(host)));
  add(k_fabric, fabric_text());
  add(k_listening, kernel_file("/proc/net/tcp") + kernel_file("/proc/net/tcp6"));
  add(k_shared_memory, shared_memory_text());
  add(k_limits, kernel_file("/proc/self/limits"));
  add(k_memory, kernel_file("/proc/meminfo"));
  add(k_modules, kernel_file("/proc/modules"));
  add_group_memory(texts);
  add_head(texts, environment);
  add_gpus(texts);
  add_packages(texts);
  return texts;
}

}  // namespace shardlab
