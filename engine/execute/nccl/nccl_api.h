// NCCL's C interface as far as it is used here, so that nothing needs NCCL's or CUDA's headers.
//
// Layouts and numbers are those of nccl.h 2.28.9, which have not changed since 2.14;
// tests/unit/execute/cuda/nccl_api_test.cpp compares them with the header.
#pragma once

#include <array>
#include <climits>
#include <cstddef>

namespace shardlab::nccl {

struct Comm;               // ncclComm
using CommHandle = Comm*;  // ncclComm_t
using Stream = void*;      // cudaStream_t

enum class Outcome : int {  // ncclResult_t
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
};

enum class Element : int {  // ncclDataType_t
  int8 = 0,
  uint8 = 1,
  int32 = 2,
  int64 = 4,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9,
};

enum class Reduction : int { sum = 0, product = 1, maximum = 2, minimum = 3, average = 4 };  // ncclRedOp_t

struct UniqueId {
  std::array<char, 128> bytes{};
};

// The ncclConfig_t of version 2.14, which every later one takes: `version` and `size` say which fields there
// are, the others have their defaults.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned int magic = 0xcafebeef;
  unsigned int version = 21400;
  int blocking = INT_MIN;
};

// They have C linkage, as the library does.
extern "C" {
using GetVersion = Outcome (*)(int* version);
using GetUniqueId = Outcome (*)(UniqueId* id);
using InitRankConfig = Outcome (*)(CommHandle* communicator, int ranks, UniqueId id, int rank,
                                   Config* config);
using GetAsyncError = Outcome (*)(CommHandle communicator, Outcome* error);
using Abort = Outcome (*)(CommHandle communicator);
using Destroy = Outcome (*)(CommHandle communicator);
using AllGather = Outcome (*)(const void* own, void* gathered, std::size_t count_of_own, Element element,
                              CommHandle communicator, Stream stream);
using ReduceScatter = Outcome (*)(const void* full, void* own, std::size_t count_of_own, Element element,
                                  Reduction reduction, CommHandle communicator, Stream stream);
using AllReduce = Outcome (*)(const void* from, void* to, std::size_t count, Element element,
                              Reduction reduction, CommHandle communicator, Stream stream);
using Reduce = Outcome (*)(const void* from, void* to, std::size_t count, Element element,
                           Reduction reduction, int root, CommHandle communicator, Stream stream);
using Broadcast = Outcome (*)(const void* from, void* to, std::size_t count, Element element, int root,
                              CommHandle communicator, Stream stream);
using Send = Outcome (*)(const void* sent, std::size_t count, Element element, int peer,
                         CommHandle communicator, Stream stream);
using Receive = Outcome (*)(void* received, std::size_t count, Element element, int peer,
                            CommHandle communicator, Stream stream);
using Group = Outcome (*)();
using ErrorString = const char* (*)(Outcome outcome);
using LastError = const char* (*)(CommHandle communicator);
}

}  // namespace shardlab::nccl
