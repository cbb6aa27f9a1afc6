#include "engine/execute/torch/cuda/nccl_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>

namespace shardlab {
namespace {

constexpr int k_oldest = 21400;  // ncclCommInitRankConfig with communicators that do not block

struct Loader {
  void* library;
  std::string missing;

  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  }
};

Result<std::unique_ptr<NcclLibrary>> open(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return not_possible("NCCL", fmt::format("cannot be loaded: {}", ::dlerror()),
                        "install NCCL, or set SHARDLAB_NCCL_LIBRARY to a libnccl.so.2");
  }
  auto nccl = std::make_unique<NcclLibrary>();
  nccl->path = path;
  Loader loader{handle, {}};
  decltype(&::ncclGetVersion) get_version = nullptr;
  loader.find(get_version, "ncclGetVersion");
  loader.find(nccl->get_unique_id, "ncclGetUniqueId");
  loader.find(nccl->init_rank, "ncclCommInitRankConfig");
  loader.find(nccl->get_async_error, "ncclCommGetAsyncError");
  loader.find(nccl->abort, "ncclCommAbort");
  loader.find(nccl->destroy, "ncclCommDestroy");
  loader.find(nccl->all_gather, "ncclAllGather");
  loader.find(nccl->reduce_scatter, "ncclReduceScatter");
  loader.find(nccl->all_reduce, "ncclAllReduce");
  loader.find(nccl->broadcast, "ncclBroadcast");
  loader.find(nccl->send, "ncclSend");
  loader.find(nccl->receive, "ncclRecv");
  loader.find(nccl->group_start, "ncclGroupStart");
  loader.find(nccl->group_end, "ncclGroupEnd");
  loader.find(nccl->error_string, "ncclGetErrorString");
  loader.find(nccl->last_error, "ncclGetLastError");
  if (loader.missing.empty()) (void)get_version(&nccl->version);
  if (!loader.missing.empty() || nccl->version < k_oldest) {
    return not_possible(path,
                        loader.missing.empty() ? fmt::format("is NCCL {}", nccl_version_text(nccl->version))
                                               : fmt::format("has no {}", loader.missing),
                        fmt::format("NCCL {} or newer is needed", nccl_version_text(k_oldest)));
  }
  return nccl;
}

std::string default_path() {
  const char* named = std::getenv("SHARDLAB_NCCL_LIBRARY");
  return named != nullptr && *named != '\0' ? named : "libnccl.so.2";
}

}  // namespace

Result<const NcclLibrary*> load_nccl(std::string path) {
  // Never unloaded: communicators and NCCL's own threads live to the end of the process.
  static std::mutex mutex;
  static auto* loaded = new std::map<std::string, std::unique_ptr<NcclLibrary>>();
  const std::lock_guard lock(mutex);
  if (path.empty()) path = default_path();
  if (const auto known = loaded->find(path); known != loaded->end()) return known->second.get();
  SHARDLAB_TRY(std::unique_ptr<NcclLibrary> nccl, open(path));
  return ((*loaded)[path] = std::move(nccl)).get();
}

std::string nccl_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace shardlab
