#include "engine/hardware/gpu.h"

#include <cmath>

#include "engine/base/parse.h"
#include "engine/hardware/catalogue.h"
#include "engine/hardware/description.h"
#include "engine/hardware/name_hints.h"

namespace shardlab {
namespace {

std::optional<FlopsPerSecond> flops(Description& file, std::string_view key) {
  const auto value = file.optional_figure("figures", key);
  return value ? std::optional(FlopsPerSecond{*value}) : std::nullopt;
}

Bytes size(Description& file, std::string_view key) {
  return {static_cast<std::int64_t>(file.figure("figures", key))};
}

void read_data_sheet(Description& file, Gpu& gpu) {
  if (file.optional_figure("figures", "devices_per_card"))
    gpu.devices_per_card = file.count("figures", "devices_per_card");
  gpu.memory = size(file, "memory");
  gpu.visible_memory = size(file, "visible_memory");
  gpu.memory_bandwidth = {file.figure("figures", "memory_bandwidth")};
  gpu.peaks = {flops(file, "float32_flops"), flops(file, "tf32_flops"), flops(file, "float16_flops"),
               flops(file, "bfloat16_flops"), flops(file, "fp8_flops")};
  gpu.multiprocessors = file.count("figures", "multiprocessors");
  gpu.l2_cache = size(file, "l2_cache");
  if (const auto nvlink = file.optional_figure("figures", "nvlink")) gpu.nvlink = BytesPerSecond{*nvlink};
  gpu.pcie_generation = file.count("figures", "pcie_generation");
  gpu.host_to_device = {file.figure("figures", "host_to_device")};
  gpu.device_to_host = {file.figure("figures", "device_to_host")};
  gpu.host_link_both_ways = file.optional_figure("figures", "host_link_both_ways").value_or(1);
  if (const auto rate = file.optional_figure("figures", "host_memory_bandwidth"))
    gpu.host_memory_bandwidth = BytesPerSecond{*rate};
  if (file.optional_figure("figures", "host_cores")) gpu.host_cores = file.count("figures", "host_cores");
  gpu.watts = file.figure("figures", "watts");
  gpu.dollars_per_hour_low = file.optional_figure("figures", "dollars_per_hour_low");
  gpu.dollars_per_hour_high = file.optional_figure("figures", "dollars_per_hour_high");
  // For people who compare; the model uses the coefficients below.
  for (const char* best : {"best_bfloat16_flops", "best_fp8_flops", "best_memory_copy"})
    file.optional_figure("figures", best);
}

void read_coefficients(Description& file, Gpu& gpu) {
  gpu.gemm_e_max = file.figure("compute", "gemm_e_max");
  gpu.gemm_k_half = file.figure("compute", "gemm_k_half");
  gpu.power_factor = file.figure("compute", "power_factor");
  gpu.attention = {file.figure("compute", "attention_flops")};
  gpu.attention_sequence_half = file.figure("compute", "attention_sequence_half");
  gpu.memory_efficiency = file.figure("compute", "memory_efficiency");
  gpu.kernel_gap_seconds = file.figure("compute", "kernel_gap_seconds");
  gpu.overlap_penalty = file.figure("compute", "overlap_penalty");
  gpu.ring = {file.figure("collectives", "ring_bandwidth")};
}

}  // namespace

std::optional<FlopsPerSecond> DevicePeaks::of(DType dtype) const {
  if (dtype == DType::float32) return float32;
  if (dtype == DType::float16) return float16;
  if (dtype == DType::bfloat16) return bfloat16;
  return std::nullopt;
}

int cuda_capability(const Gpu& gpu) {
  const auto number = parse_number(gpu.compute_capability);
  return number ? static_cast<int>(std::lround(*number * 10)) : 0;
}

Result<Gpu> find_gpu(std::string_view name) {
  const auto path = find_description("gpus", name, "GPU");
  if (!path) return with_hint(path.error(), hint_for_gpu(name));
  SHARDLAB_TRY(Description file, Description::read(*path));
  Gpu gpu;
  gpu.name = file.text("name");
  gpu.vendor = file.text("vendor");
  gpu.architecture = file.text("architecture");
  gpu.compute_capability = file.text("compute_capability");
  gpu.notes = file.optional_text("notes");
  gpu.pairs_only = file.flag("link_joins_pairs_only", false);
  gpu.peer_to_peer = file.flag("peer_to_peer", true);
  read_data_sheet(file, gpu);
  read_coefficients(file, gpu);
  SHARDLAB_CHECK_OK(file.finish());
  gpu.provenance = file.provenance();
  return gpu;
}

std::vector<std::string> gpu_names() {
  return described_names("gpus");
}

}  // namespace shardlab
