// cuBLAS's workspaces (torch 2.11, aten/src/ATen/cuda/CublasHandlePool.cpp): one a handle and stream, and a
// handle a thread. Under PyTorch forward runs in the main thread, backward, with what it computes again, in
// autograd's; our executor has one thread.
// cuBLASLt shares them where TORCH_CUBLASLT_UNIFIED_WORKSPACE says so; a release before Blackwell's size was
// changed gives it that of Ampere.
#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "engine/scenario/choose_implementation.h"
#include "simulator/memory/overheads/overhead_rows.h"

namespace shardlab {
namespace {

struct Workspace {
  Bytes bytes, low;
  Bytes lt;  // cuBLASLt's own, where it does not share
  std::string_view figure;
};

Workspace workspace_of(const Device& device, const RuntimeMemory& runtime) {
  if (device.cuda_capability == 0) {
    if (device.architecture == "CDNA3")
      return {runtime.cublas_cdna3, runtime.cublas_cdna3, runtime.cublas_rocm_lt, "cublas.cdna3"};
    return {runtime.cublas_rocm, runtime.cublas_rocm, runtime.cublas_rocm_lt, "cublas.rocm"};
  }
  const Bytes small = runtime.cublas_before_hopper, lt = runtime.cublas_lt;
  if (device.cuda_capability >= 100) return {runtime.cublas_blackwell, small, lt, "cublas.blackwell"};
  if (device.cuda_capability >= 90)
    return {runtime.cublas_hopper, runtime.cublas_hopper, lt, "cublas.hopper"};
  return {small, small, lt, "cublas.before_hopper"};
}

// The threads that multiply matrices on a stream, by stream.
std::set<std::pair<StreamId, bool>> handles_of(const PlannedScenario& planned) {
  const bool has_autograd = choose_host(planned.scenario) == HostProgram::python;
  std::set<std::pair<StreamId, bool>> handles;
  for (const Instruction& instruction : planned.plan.steady.instructions)
    if (runs_segment(instruction.kind))
      handles.emplace(instruction.stream, has_autograd && instruction.kind != InstructionKind::Forward);
  return handles;
}

const char* threads_text(const PlannedScenario& planned) {
  return choose_host(planned.scenario) == HostProgram::python ? ", forward's and autograd's" : "";
}

}  // namespace

std::vector<LibraryAllocation> library_allocations(const PlannedScenario& planned, const Device& device,
                                                   const RuntimeMemory& runtime) {
  if (device.kind != DeviceKind::gpu) return {};
  const Bytes bytes = workspace_of(device, runtime).bytes;
  std::vector<LibraryAllocation> allocations;
  for (const auto& [stream, backward] : handles_of(planned)) {
    if (allocations.empty() || allocations.back().stream != stream) allocations.push_back({bytes, stream, 0});
    ++allocations.back().count;
  }
  return allocations;
}

Overheads cublas_overheads(const PlannedScenario& planned, const Device& device,
                           const RuntimeMemory& runtime) {
  const Workspace workspace = workspace_of(device, runtime);
  const auto handles = static_cast<std::int64_t>(handles_of(planned).size());
  if (handles == 0) return {};
  return {{.name = device.cuda_capability == 0 ? "hipBLAS workspaces" : "cuBLAS workspaces",
           .bytes = workspace.bytes * handles,
           .low = workspace.low * handles,
           .high = (workspace.bytes + workspace.lt) * handles,
           .where = OverheadPlace::allocator,
           .formula = fmt::format("{} x {}: one a stream for each thread that multiplies there{}", handles,
                                  to_string(workspace.bytes), threads_text(planned)),
           .source = runtime.source(workspace.figure)}};
}

}  // namespace shardlab
