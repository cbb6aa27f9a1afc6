// NCCL's functions, found at run time: a program that never communicates on GPUs starts without the library.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/execute/nccl/nccl_api.h"

namespace shardlab {

struct NcclLibrary {
  std::string path;
  int version = 0;  // 22809 is 2.28.9

  nccl::GetUniqueId get_unique_id = nullptr;
  nccl::InitRankConfig init_rank = nullptr;
  nccl::GetAsyncError get_async_error = nullptr;
  nccl::Abort abort = nullptr;
  nccl::Destroy destroy = nullptr;
  nccl::AllGather all_gather = nullptr;
  nccl::ReduceScatter reduce_scatter = nullptr;
  nccl::AllReduce all_reduce = nullptr;
  nccl::Reduce reduce = nullptr;
  nccl::Broadcast broadcast = nullptr;
  nccl::Send send = nullptr;
  nccl::Receive receive = nullptr;
  nccl::Group group_start = nullptr;
  nccl::Group group_end = nullptr;
  nccl::ErrorString error_string = nullptr;
  nccl::LastError last_error = nullptr;
};

// `path` empty: SHARDLAB_NCCL_LIBRARY, else libnccl.so.2 as the loader finds it. not_possible says what was
// tried. Loaded once; later calls with the same path give the same library.
Result<const NcclLibrary*> load_nccl(std::string path = {});

// "2.28.9".
std::string nccl_version_text(int version);

}  // namespace shardlab
