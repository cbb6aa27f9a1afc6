#include "engine/hardware/device.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "engine/base/paths.h"
#include "engine/hardware/description.h"
#include "engine/hardware/node.h"
#include "engine/hardware/usual_network.h"

namespace shardlab {
namespace {

// Host costs of libtorch from C++, estimates: one operator 3 to 6 us; collectives and the bookkeeping around
// them more.
constexpr double k_kernel_launch_seconds = 5e-6;
constexpr double k_instruction_seconds = 10e-6;

DevicePeaks scaled(const DevicePeaks& peaks, double factor) {
  const auto times = [factor](std::optional<FlopsPerSecond> rate) {
    return rate ? std::optional(FlopsPerSecond{rate->value * factor}) : std::nullopt;
  };
  return {times(peaks.float32), times(peaks.tf32), times(peaks.float16), times(peaks.bfloat16),
          times(peaks.fp8)};
}

// Guesses among the figures, by their names without the section: those that predictions rest on, not what a
// person looks up besides (power, caches, drives).
void add_estimates(Device& device, const FigureSources& provenance, std::string_view prefix) {
  static constexpr auto k_used = std::to_array<std::string_view>(
      {"visible_memory", "memory_bandwidth", "float32_flops", "float16_flops", "bfloat16_flops",
       "multiprocessors", "gemm_e_max", "gemm_k_half", "power_factor", "attention_flops",
       "attention_sequence_half", "memory_efficiency", "kernel_gap_seconds", "ring_bandwidth", "network",
       "network_efficiency", "network_latency_seconds", "nvlink_domain_gpus"});
  for (const std::string& figure : estimated_figures(provenance)) {
    const std::string name = figure.substr(figure.find('.') + 1);
    if (std::find(k_used.begin(), k_used.end(), name) != k_used.end())
      device.estimates.push_back(std::string(prefix) + name);
  }
}

void set_compute(Device& device, const Gpu& gpu) {
  device.peaks = gpu.peaks;
  device.gemm = scaled(gpu.peaks, gpu.gemm_e_max * gpu.power_factor);
  device.gemm_k_half = gpu.gemm_k_half;
  // The file's figure is for 16 bits; other dtypes in proportion to their peaks.
  const auto half = gpu.peaks.bfloat16 ? gpu.peaks.bfloat16 : gpu.peaks.float16;
  if (half) device.attention = scaled(gpu.peaks, gpu.attention.value / half->value);
  device.attention_sequence_half = gpu.attention_sequence_half;
  device.multiprocessors = gpu.multiprocessors;
  device.memory_bandwidth = gpu.memory_bandwidth;
  device.memory_efficiency = gpu.memory_efficiency;
  device.memory = gpu.visible_memory;
  device.kernel_launch_seconds = k_kernel_launch_seconds;
  device.kernel_gap_seconds = gpu.kernel_gap_seconds;
  device.instruction_seconds = k_instruction_seconds;
  device.overlap_penalty = gpu.overlap_penalty;
  device.host_to_device = gpu.host_to_device;
  device.device_to_host = gpu.device_to_host;
  if (gpu.dollars_per_hour_low && gpu.dollars_per_hour_high) {
    device.dollars_per_hour = (*gpu.dollars_per_hour_low + *gpu.dollars_per_hour_high) / 2;
  }
  device.devices_per_card = gpu.devices_per_card;
  add_estimates(device, gpu.provenance, "");
  device.estimates.insert(device.estimates.end(), {"kernel_launch_seconds", "instruction_seconds"});
}

LinkFigures wires_of(const Gpu& gpu, bool pcie_only) {
  LinkFigures wires;
  wires.ring = gpu.ring;
  // PCIe boxes attain 10, 24 and 48 GB/s in a ring (generations 3, 4, 5); each generation doubles.
  if (pcie_only && gpu.nvlink && !gpu.pairs_only)
    wires.ring = {gpu.pcie_generation <= 3 ? 10e9 : 24e9 * std::pow(2.0, gpu.pcie_generation - 4)};
  return wires;
}

GpuLinks gpu_links(const Gpu& gpu, bool pcie_only) {
  if (!gpu.peer_to_peer) return GpuLinks::host;
  return gpu.nvlink && !gpu.pairs_only && !pcie_only ? GpuLinks::nvlink : GpuLinks::pcie;
}

void set_network(Device& device, const Node& node) {
  device.wires.network_per_rank = {node.network.value / node.gpus};
  device.wires.network_efficiency = node.network_efficiency;
  device.wires.network_latency_seconds = node.network_latency_seconds;
  device.wires.switch_ranks = node.nvlink_domain_gpus;
  if (device.nodes > 1) add_estimates(device, node.provenance, "node ");
}

// Between nodes that nobody described.
Status set_usual_network(Device& device) {
  const std::optional<std::string> usual = usual_node(device.name);
  if (!usual)
    return bad_input({}, fmt::format("nobody says which network joins nodes of {}", device.name),
                     "give its rate for each GPU");
  SHARDLAB_TRY(const Node node, find_node(*usual));
  set_network(device, node);
  device.source += ", assets/hardware/nodes/" + node.name + ".yaml";
  return {};
}

// Its ranks swap at the same time.
void set_drives(Device& device, const ClusterRequest& request, BytesPerSecond read, BytesPerSecond write) {
  const auto part = [&](BytesPerSecond of_node) {
    return BytesPerSecond{of_node.value / std::max(device.ranks_per_node, 1)};
  };
  device.drive_read = part(request.drive_read.value_or(read));
  device.drive_write = part(request.drive_write.value_or(write));
}

Result<Device> describe_gpus(const ClusterRequest& request) {
  Device device;
  device.kind = DeviceKind::gpu;
  device.nodes = request.nodes;
  std::string gpu_name = request.gpu;
  device.ranks_per_node = request.gpus_per_node;
  std::optional<Node> node;
  if (!request.node.empty()) {
    SHARDLAB_TRY(node, find_node(request.node));
    gpu_name = node->gpu;
    if (device.ranks_per_node == 0) device.ranks_per_node = node->gpus;
    if (device.ranks_per_node > node->gpus) {
      return bad_input({},
                       fmt::format("{} has {} GPUs, not {}", node->name, node->gpus, device.ranks_per_node));
    }
  }
  if (device.ranks_per_node < 1 || device.nodes < 1)
    return bad_input({}, "a cluster needs one GPU or more on one node or more");
  device.ranks = device.nodes * device.ranks_per_node;
  SHARDLAB_TRY(const Gpu gpu, find_gpu(gpu_name));
  device.name = gpu.name;
  set_compute(device, gpu);
  device.source = "assets/hardware/gpus/" + gpu.name + ".yaml";
  device.wires = wires_of(gpu, request.pcie_only);
  device.links = gpu_links(gpu, request.pcie_only);
  device.cuda_capability = cuda_capability(gpu);
  device.architecture = gpu.architecture;
  // Two threads a core.
  const auto cores = node ? std::optional(node->host_threads / 2 / node->gpus) : std::nullopt;
  SHARDLAB_TRY(device.host, read_host(gpu, cores));
  set_drives(device, request, node && node->nvme_read ? *node->nvme_read : device.host.drive_read,
             node && node->nvme_write ? *node->nvme_write : device.host.drive_write);
  device.drive_seconds = device.host.drive_seconds;
  SHARDLAB_TRY(device.runtime, read_runtime_memory());
  SHARDLAB_TRY(device.network, read_network_figures());
  SHARDLAB_TRY(device.kernels, read_kernel_figures());
  SHARDLAB_TRY(device.fitted, read_fitted_figures());
  if (node) {
    device.source += ", assets/hardware/nodes/" + node->name + ".yaml";
    set_network(device, *node);
    device.adapters = node->nics;
    device.host_memory = node->host_memory;
    if (node->dollars_per_hour) device.dollars_per_hour = *node->dollars_per_hour / node->gpus;
  } else if (request.network_gbps_per_gpu) {
    device.wires.network_per_rank = {*request.network_gbps_per_gpu / 8 * 1e9};
    device.wires.network_efficiency =
        0.9;  // RDMA fabrics attain 0.92 to 0.96 [vendors' measurements], TCP 0.8
    device.estimates.push_back("network_efficiency");
  } else if (device.nodes > 1) {
    SHARDLAB_CHECK_OK(set_usual_network(device));
  }
  if (device.nodes > 1 && device.wires.network_per_rank.value <= 0) {
    return bad_input({}, fmt::format("{} has no network between nodes", node ? node->name : gpu.name),
                     "use one node");
  }
  return device;
}

Result<Device> describe_cpu(const ClusterRequest& request) {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("hardware/cpu.yaml"));
  SHARDLAB_TRY(Description file, Description::read(path));
  Device device;
  device.name = file.text("name");
  device.kind = DeviceKind::cpu;
  device.threads = request.threads_per_rank;
  device.ranks = device.ranks_per_node = request.cpu_ranks;
  device.source = "assets/hardware/cpu.yaml";
  const auto per_thread = [&](const char* key) {
    return FlopsPerSecond{file.figure("figures", key) * request.threads_per_rank};
  };
  device.gemm.float32 = per_thread("float32_flops_per_thread");
  device.gemm.bfloat16 = per_thread("bfloat16_flops_per_thread");
  device.gemm_k_half = file.figure("figures", "gemm_k_half");
  device.attention.float32 = per_thread("attention_flops_per_thread");
  device.attention.bfloat16 = device.attention.float32;
  device.attention_sequence_half = file.figure("figures", "attention_sequence_half");
  device.memory_bandwidth = {file.figure("figures", "memory_bandwidth_per_thread") *
                             request.threads_per_rank};
  device.memory_efficiency = file.figure("figures", "memory_efficiency");
  device.kernel_launch_seconds = file.figure("figures", "operator_seconds");
  device.instruction_seconds = file.figure("figures", "instruction_seconds");
  device.overlap_penalty = file.figure("figures", "overlap_penalty");
  set_drives(device, request, {file.figure("figures", "drive_read")},
             {file.figure("figures", "drive_write")});
  device.drive_seconds = file.figure("figures", "drive_seconds");
  Links loopback;
  loopback.all_gather = {file.figure("collectives", "all_gather_latency_seconds"),
                         {file.figure("collectives", "all_gather_bandwidth")},
                         0};
  loopback.reduce_scatter = {file.figure("collectives", "reduce_scatter_latency_seconds"),
                             {file.figure("collectives", "reduce_scatter_bandwidth")},
                             0};
  loopback.all_reduce = {file.figure("collectives", "all_reduce_latency_seconds"),
                         {file.figure("collectives", "all_reduce_bandwidth")},
                         0};
  device.wires.shared = loopback;
  SHARDLAB_CHECK_OK(file.finish());
  device.estimates = estimated_figures(file.provenance());
  return device;
}

}  // namespace

Device::Device() = default;
Device::Device(const Device&) = default;
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(const Device&) = default;
Device& Device::operator=(Device&&) noexcept = default;
Device::~Device() = default;

Result<Device> describe_device(const ClusterRequest& request) {
  SHARDLAB_TRY(Device device, request.cpu_ranks > 0 ? describe_cpu(request) : describe_gpus(request));
  if (request.supposed != SupposedHardware()) suppose(request.supposed, device);
  if (request.memory_limit && (device.memory.value == 0 || *request.memory_limit < device.memory))
    device.memory = *request.memory_limit;
  if (request.host_memory) device.host_memory = *request.host_memory;
  return device;
}

}  // namespace shardlab
