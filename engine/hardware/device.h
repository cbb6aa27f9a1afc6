// One rank's device and its wires: everything a cost model asks of hardware.
//
// Values come from assets/hardware and are published or estimated figures, never measurements of this
// machine; a calibration replaces them (simulator/calibrate). `estimates` names the figures that nobody
// measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/hardware/device_kind.h"
#include "engine/hardware/fitted_figures.h"
#include "engine/hardware/gpu.h"
#include "engine/hardware/host.h"
#include "engine/hardware/kernel_figures.h"
#include "engine/hardware/links.h"
#include "engine/hardware/network_figures.h"
#include "engine/hardware/runtime_memory.h"
#include "engine/hardware/supposed.h"

namespace shardlab {

struct Device {
  std::string name;  // "H100-SXM", "cpu"
  DeviceKind kind = DeviceKind::cpu;
  bool calibrated = false;

  // --- compute ---
  DevicePeaks peaks;  // dense, of the data sheet; all absent on a CPU
  // Matrix products of inner dimension K attain rate * K / (K + gemm_k_half), where rate = gemm_rate(dtype).
  DevicePeaks gemm;  // attainable for large products
  double gemm_k_half = 0;
  // Attention over s tokens attains rate * s / (s + attention_sequence_half), counting causal attention half:
  // on a GPU flash attention 2 with heads of 128, forward and backward together.
  DevicePeaks attention;
  double attention_sequence_half = 0;
  int multiprocessors = 0;              // 0 on a CPU
  int threads = 1;                      // of a rank on a CPU
  KernelFigures kernels;                // empty on a CPU
  std::optional<FittedFigures> fitted;  // of programs on GPUs; none on a CPU
  // What runs has the libraries of 2023 and 2024, as published runs have, rather than torch 2.11's.
  bool older_libraries = false;

  // --- memory ---
  BytesPerSecond memory_bandwidth;  // of the data sheet, or of one rank's threads on a CPU
  double memory_efficiency = 1;     // attained share of it for large tensors
  Bytes memory;  // what torch can allocate of the device, or the scenario's limit when lower; 0: unknown

  // --- host ---
  Bytes host_memory;                 // of a node; 0: unknown
  double kernel_launch_seconds = 0;  // host time to launch one kernel (run one operator on a CPU)
  double kernel_gap_seconds = 0;     // device time between two kernels
  double instruction_seconds = 0;    // host time to issue one instruction of a plan
  double overlap_penalty = 0;  // share of the shorter of overlapping compute and communication that is lost
  BytesPerSecond host_to_device;  // pinned; 0 on a CPU
  BytesPerSecond device_to_host;
  Host host;
  BytesPerSecond drive_read;  // a rank's part of the drives of its node
  BytesPerSecond drive_write;
  double drive_seconds = 0;  // of one transfer, beside its bytes

  // --- the cluster ---
  int ranks = 1;
  int ranks_per_node = 1;
  int nodes = 1;
  LinkFigures wires;
  std::optional<double> dollars_per_hour;  // of one GPU, middle of the price range
  SupposedHardware supposed;               // factors that the figures above have in them

  int devices_per_card = 1;  // ranks that one card holds (two dies of an MI250X)

  // --- what libraries on a GPU decide by ---
  int cuda_capability = 0;  // ten times CUDA's compute capability: 90; 0 on others' GPUs and a CPU
  std::string architecture;
  GpuLinks links = GpuLinks::none;  // between the GPUs of a node
  int adapters = 0;                 // of a node, to the network; 0: as many as ranks
  RuntimeMemory runtime;            // empty on a CPU
  NetworkFigures network;           // likewise

  std::vector<std::string> estimates;  // names of figures that are estimates and that predictions use
  std::string source;                  // the files the figures come from

  // Out of line: many hand it on, and few look into all of it.
  Device();
  Device(const Device&);
  Device(Device&&) noexcept;
  Device& operator=(const Device&);
  Device& operator=(Device&&) noexcept;
  ~Device();

  // The data sheet's dense peak for products in this dtype; none where no peak is known (then MFU is
  // unknown).
  std::optional<FlopsPerSecond> peak(DType dtype) const { return peaks.of(dtype); }
};

// What a scenario says about its cluster, in hardware's own words. Exactly one of node, gpu and cpu_ranks is
// set.
struct ClusterRequest {
  std::string node;
  std::string gpu;
  int gpus_per_node = 0;  // 0: all of a named node
  int nodes = 1;
  bool pcie_only = false;                      // ignore the GPU's own links
  std::optional<double> network_gbps_per_gpu;  // Gbit/s, one direction; for `gpu`
  int cpu_ranks = 0;
  int threads_per_rank = 1;
  std::optional<Bytes> memory_limit;
  std::optional<Bytes> host_memory;                       // of a node; else a named node's
  std::optional<BytesPerSecond> drive_read, drive_write;  // likewise
  SupposedHardware supposed;                              // of GPUs
};

// Reads assets/hardware. bad_input for unknown names, with the nearest known one.
Result<Device> describe_device(const ClusterRequest& request);

}  // namespace shardlab
