// GPUs as data sheets and published measurements describe them: assets/hardware/gpus/<name>.yaml.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/hardware/description.h"

namespace shardlab {

// Rates of matrix products by dtype, dense (no sparsity). Absent where the device has none or nobody says.
struct DevicePeaks {
  std::optional<FlopsPerSecond> float32;
  std::optional<FlopsPerSecond> tf32;
  std::optional<FlopsPerSecond> float16;
  std::optional<FlopsPerSecond> bfloat16;
  std::optional<FlopsPerSecond> fp8;

  // float32 means float32: torch does not use TF32 unless asked.
  std::optional<FlopsPerSecond> of(DType dtype) const;
  friend bool operator==(const DevicePeaks&, const DevicePeaks&) = default;
};

struct Gpu {
  std::string name;
  std::string vendor;
  std::string architecture;
  std::string compute_capability;
  std::string notes;
  int devices_per_card = 1;  // what is sold as one may be several to the system; all else is of one device
  Bytes memory;              // of the data sheet
  Bytes visible_memory;      // what torch sees
  BytesPerSecond memory_bandwidth;
  DevicePeaks peaks;
  int multiprocessors = 0;
  Bytes l2_cache;
  std::optional<BytesPerSecond> nvlink;  // one direction; Infinity Fabric on AMD
  bool pairs_only = false;               // the link joins two boards, not all of a node
  bool peer_to_peer = true;              // false: traffic between GPUs crosses host memory
  int pcie_generation = 0;
  BytesPerSecond host_to_device;  // pinned
  BytesPerSecond device_to_host;
  double host_link_both_ways = 1;  // share of these that each direction keeps when both run
  // The next two are about the processor beside the GPU, where the GPU comes with one.
  std::optional<BytesPerSecond> host_memory_bandwidth;
  std::optional<int> host_cores;
  double watts = 0;
  std::optional<double> dollars_per_hour_low;
  std::optional<double> dollars_per_hour_high;

  // Coefficients of the compute model (device.h).
  double gemm_e_max = 0;    // attained share of the peak for large products ...
  double power_factor = 1;  // ... times this, where power limits the clock
  double gemm_k_half = 0;
  FlopsPerSecond attention;  // bf16, causal counted half
  double attention_sequence_half = 0;
  double memory_efficiency = 0;
  double kernel_gap_seconds = 0;
  double overlap_penalty = 0;

  BytesPerSecond ring;  // bus bandwidth of a ring over the GPUs of a node

  FigureSources provenance;  // of every figure, by its key in the file
};

// Ten times CUDA's compute capability: "8.6" is 86; what is no number ("gfx942") is none of CUDA's, 0.
int cuda_capability(const Gpu& gpu);

// A GPU by file name or alias (assets/hardware/aliases.yaml), in any case; bad_input when there is none.
Result<Gpu> find_gpu(std::string_view name);

std::vector<std::string> gpu_names();

}  // namespace shardlab
