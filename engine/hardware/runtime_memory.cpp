#include "engine/hardware/runtime_memory.h"

#include "engine/base/paths.h"

namespace shardlab {
namespace {

Bytes size(Description& file, std::string_view section, std::string_view key) {
  return {static_cast<std::int64_t>(file.figure(section, key))};
}

// count() reads a missing figure as zero.
int number(Description& file, std::string_view key) {
  file.figure("nccl", key);
  return file.count("nccl", key);
}

NcclMemory read_nccl(Description& file) {
  NcclMemory nccl;
  const auto bytes = [&](std::string_view key) { return size(file, "nccl", key); };
  nccl.kernels = bytes("kernels");
  nccl.kernels_high = bytes("kernels_high");
  nccl.simple_buffer = bytes("simple_buffer");
  nccl.ll_buffer = bytes("ll_buffer");
  nccl.ll128_buffer = bytes("ll128_buffer");
  nccl.connection_header = bytes("connection_header");
  nccl.granularity = bytes("granularity");
  nccl.nvls_chunk = bytes("nvls_chunk");
  nccl.nvls_channels_hopper = number(file, "nvls_channels_hopper");
  nccl.nvls_channels_blackwell = number(file, "nvls_channels_blackwell");
  nccl.all_reduce_nvls_from = bytes("all_reduce_nvls_from");
  nccl.shared_steps = number(file, "shared_steps");
  nccl.chunk_nvlink = bytes("chunk_nvlink");
  nccl.chunk_other = bytes("chunk_other");
  nccl.work_queue = bytes("work_queue");
  nccl.channels_volta = number(file, "channels_volta");
  nccl.channels_ampere = number(file, "channels_ampere");
  nccl.channels_hopper = number(file, "channels_hopper");
  nccl.channels_blackwell = number(file, "channels_blackwell");
  nccl.channels_pcie = number(file, "channels_pcie");
  nccl.channels_per_adapter = number(file, "channels_per_adapter");
  return nccl;
}

}  // namespace

std::string RuntimeMemory::source(std::string_view figure) const {
  const auto found = provenance.find(std::string(figure));
  return found == provenance.end() ? std::string() : found->second.source;
}

Result<RuntimeMemory> read_runtime_memory() {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("hardware/runtime.yaml"));
  SHARDLAB_TRY(Description file, Description::read(path));
  file.text("name");
  RuntimeMemory memory;
  memory.context = size(file, "cuda", "context");
  memory.context_low = size(file, "cuda", "context_low");
  memory.context_high = size(file, "cuda", "context_high");
  memory.cublas_before_hopper = size(file, "cublas", "before_hopper");
  memory.cublas_hopper = size(file, "cublas", "hopper");
  memory.cublas_blackwell = size(file, "cublas", "blackwell");
  memory.cublas_rocm = size(file, "cublas", "rocm");
  memory.cublas_cdna3 = size(file, "cublas", "cdna3");
  memory.cublas_lt = size(file, "cublas", "lt");
  memory.cublas_rocm_lt = size(file, "cublas", "rocm_lt");
  memory.nccl = read_nccl(file);
  memory.rccl_first = size(file, "rccl", "first_communicator");
  memory.rccl_further = size(file, "rccl", "further_communicator");
  memory.process = size(file, "host", "process");
  SHARDLAB_CHECK_OK(file.finish());
  memory.provenance = file.provenance();
  return memory;
}

}  // namespace shardlab
