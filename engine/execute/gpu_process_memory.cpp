#include "engine/execute/gpu_process_memory.h"

#include <dlfcn.h>

#include <vector>

namespace shardlab {
namespace {

constexpr int k_success = 0, k_more_room_needed = 7;  // nvmlReturn_t

template <typename Function>
bool find(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::optional<ManagementLibrary> load_management_library() {
  void* handle = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::nullopt;
  ManagementLibrary library;
  if (!find(handle, library.initialize, "nvmlInit_v2") ||
      !find(handle, library.device_by_uuid, "nvmlDeviceGetHandleByUUID") ||
      !find(handle, library.processes, "nvmlDeviceGetComputeRunningProcesses_v3"))
    return std::nullopt;
  if (library.initialize() != k_success) return std::nullopt;
  return library;
}

std::optional<Bytes> process_memory(const ManagementLibrary& library, const std::string& uuid, int number) {
  void* device = nullptr;
  if (library.device_by_uuid(uuid.c_str(), &device) != k_success) return std::nullopt;
  std::vector<ManagementLibrary::Process> processes(16);
  auto count = static_cast<unsigned int>(processes.size());
  int answer = library.processes(device, &count, processes.data());
  if (answer == k_more_room_needed) {
    count += 16;  // some may have come meanwhile
    processes.resize(count);
    answer = library.processes(device, &count, processes.data());
  }
  if (answer != k_success) return std::nullopt;
  for (unsigned int i = 0; i < count; ++i) {
    if (processes[i].number == static_cast<unsigned int>(number))
      return Bytes{static_cast<std::int64_t>(processes[i].bytes)};
  }
  return std::nullopt;
}

}  // namespace shardlab
