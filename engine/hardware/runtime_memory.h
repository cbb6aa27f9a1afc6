// What libraries take for themselves on a GPU and its host: assets/hardware/runtime.yaml.
//
// Constants only; what of them a run takes follows from its plan (simulator/memory/overheads).
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/hardware/description.h"

namespace shardlab {

// NVIDIA's communication library: sizes of its buffers, and how many channels it opens.
struct NcclMemory {
  Bytes kernels, kernels_high;                   // loaded with the first communicator of a process
  Bytes simple_buffer, ll_buffer, ll128_buffer;  // of a connection, by protocol
  Bytes connection_header;
  Bytes granularity;  // of device memory that other processes map
  Bytes nvls_chunk;
  int nvls_channels_hopper = 0, nvls_channels_blackwell = 0;
  Bytes all_reduce_nvls_from;  // larger ones are reduced by the switch where it can
  int shared_steps = 0;
  Bytes chunk_nvlink, chunk_other;
  Bytes work_queue;  // of a communicator, in host memory
  int channels_volta = 0, channels_ampere = 0, channels_hopper = 0, channels_blackwell = 0;
  int channels_pcie = 0;
  int channels_per_adapter = 0;
};

struct RuntimeMemory {
  Bytes context, context_low, context_high;  // of CUDA
  // cuBLAS's workspace of one handle on one stream.
  Bytes cublas_before_hopper, cublas_hopper, cublas_blackwell, cublas_rocm, cublas_cdna3;
  Bytes cublas_lt, cublas_rocm_lt;  // cuBLASLt's, where it has one of its own
  NcclMemory nccl;
  Bytes rccl_first, rccl_further;  // communicators
  Bytes process;                   // of a rank, in host memory
  FigureSources provenance;        // by "cuda.context" and the like

  // Empty for a figure that is not there.
  std::string source(std::string_view figure) const;
};

// Errors: a file that is missing or malformed.
Result<RuntimeMemory> read_runtime_memory();

}  // namespace shardlab
