// NCCL's functions, found at run time: a program that never communicates on GPUs starts without the library.
#pragma once

#include <nccl.h>

#include <string>

#include "engine/base/result.h"

namespace shardlab {

struct NcclLibrary {
  std::string path;
  int version = 0;  // 22809 is 2.28.9

  decltype(&::ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&::ncclCommInitRankConfig) init_rank = nullptr;
  decltype(&::ncclCommGetAsyncError) get_async_error = nullptr;
  decltype(&::ncclCommAbort) abort = nullptr;
  decltype(&::ncclCommDestroy) destroy = nullptr;
  decltype(&::ncclAllGather) all_gather = nullptr;
  decltype(&::ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&::ncclAllReduce) all_reduce = nullptr;
  decltype(&::ncclBroadcast) broadcast = nullptr;
  decltype(&::ncclSend) send = nullptr;
  decltype(&::ncclRecv) receive = nullptr;
  decltype(&::ncclGroupStart) group_start = nullptr;
  decltype(&::ncclGroupEnd) group_end = nullptr;
  decltype(&::ncclGetErrorString) error_string = nullptr;
  decltype(&::ncclGetLastError) last_error = nullptr;
};

// `path` empty: SHARDLAB_NCCL_LIBRARY, else libnccl.so.2 as the loader finds it. not_possible says what was
// tried. Loaded once; later calls with the same path give the same library.
Result<const NcclLibrary*> load_nccl(std::string path = {});

// "2.28.9".
std::string nccl_version_text(int version);

}  // namespace shardlab
