#include "engine/hardware/host.h"

#include <algorithm>

#include "engine/base/paths.h"

namespace shardlab {

Result<Host> read_host(const Gpu& gpu, std::optional<int> cores) {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("hardware/host.yaml"));
  SHARDLAB_TRY(Description file, Description::read(path));
  file.text("name");
  const auto rate = [&](const char* key) { return BytesPerSecond{file.figure("figures", key)}; };
  Host host;
  const int usual_cores = file.count("figures", "cores_per_gpu");
  host.cores = std::max(1, gpu.host_cores.value_or(cores.value_or(usual_cores)));
  const BytesPerSecond older = rate("memory_bandwidth_per_gpu");
  const BytesPerSecond newer = rate("memory_bandwidth_per_gpu_pcie5");
  const BytesPerSecond usual = gpu.pcie_generation >= 5 ? newer : older;
  const double efficiency = file.figure("figures", "memory_efficiency");
  host.memory_bandwidth = {gpu.host_memory_bandwidth.value_or(usual).value * efficiency};
  host.fused_bandwidth = rate("fused_bandwidth_per_core");
  host.kernels_bandwidth = rate("kernels_bandwidth_per_core");
  host.pageable_bandwidth = rate("pageable_bandwidth");
  host.drive_read = rate("drive_read");
  host.drive_write = rate("drive_write");
  host.drive_seconds = file.figure("figures", "drive_seconds");
  host.copy_seconds = file.figure("figures", "copy_seconds");
  host.link_is_shared = gpu.host_link_both_ways < 1;
  SHARDLAB_CHECK_OK(file.finish());
  host.provenance = file.provenance();
  return host;
}

}  // namespace shardlab
