#include "engine/execute/nccl/nccl_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>

namespace shardlab {
namespace {

constexpr int k_oldest = 21400;  // ncclCommInitRankConfig

struct Loader {
  void* library;
  std::string missing;

  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  }
};

// libtorch brings an NCCL of its own into the process. Without RTLD_DEEPBIND the calls that another version
// makes to its own exported functions would reach libtorch's, which takes its communicators for corrupted.
// Sanitizers do not allow it, for their own functions have to come first.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int k_own_symbols_first = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int k_own_symbols_first = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

Result<std::unique_ptr<NcclLibrary>> open(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), k_own_symbols_first);
  if (handle == nullptr) {
    return not_possible("NCCL", fmt::format("cannot be loaded: {}", ::dlerror()),
                        "install NCCL, or set SHARDLAB_NCCL_LIBRARY to a libnccl.so.2");
  }
  auto found = std::make_unique<NcclLibrary>();
  found->path = path;
  Loader loader{handle, {}};
  nccl::GetVersion get_version = nullptr;
  loader.find(get_version, "ncclGetVersion");
  loader.find(found->get_unique_id, "ncclGetUniqueId");
  loader.find(found->init_rank, "ncclCommInitRankConfig");
  loader.find(found->get_async_error, "ncclCommGetAsyncError");
  loader.find(found->abort, "ncclCommAbort");
  loader.find(found->destroy, "ncclCommDestroy");
  loader.find(found->all_gather, "ncclAllGather");
  loader.find(found->reduce_scatter, "ncclReduceScatter");
  loader.find(found->all_reduce, "ncclAllReduce");
  loader.find(found->reduce, "ncclReduce");
  loader.find(found->broadcast, "ncclBroadcast");
  loader.find(found->send, "ncclSend");
  loader.find(found->receive, "ncclRecv");
  loader.find(found->group_start, "ncclGroupStart");
  loader.find(found->group_end, "ncclGroupEnd");
  loader.find(found->error_string, "ncclGetErrorString");
  loader.find(found->last_error, "ncclGetLastError");
  if (loader.missing.empty()) (void)get_version(&found->version);
  if (!loader.missing.empty() || found->version < k_oldest) {
    return not_possible(path,
                        loader.missing.empty() ? fmt::format("is NCCL {}", nccl_version_text(found->version))
                                               : fmt::format("has no {}", loader.missing),
                        fmt::format("NCCL {} or newer is needed", nccl_version_text(k_oldest)));
  }
  return found;
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
  SHARDLAB_TRY(std::unique_ptr<NcclLibrary> found, open(path));
  return ((*loaded)[path] = std::move(found)).get();
}

std::string nccl_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace shardlab
