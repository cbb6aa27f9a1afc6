// The numbers in the out-of-memory message of PyTorch's CUDA allocator.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/units.h"

namespace shardlab {

// All as printed; what a version does not print is absent.
struct AllocatorMessage {
  std::optional<Bytes> asked;         // "Tried to allocate 388.00 MiB"
  std::optional<Bytes> capacity;      // "total capacity"
  std::optional<Bytes> free;          // of the device
  std::optional<Bytes> allocated;     // by PyTorch in this process
  std::optional<Bytes> reserved;      // by PyTorch in this process
  std::optional<Bytes> this_process;  // with context and libraries; from 2.1 on
  std::optional<Bytes> others;        // sum of "Process N has x memory in use"

  friend bool operator==(const AllocatorMessage&, const AllocatorMessage&) = default;
};

// Reads the wordings of versions 1.0 to 2.9: `(GPU 0; 6.00 GiB total capacity; 4.04 GiB already allocated;
// 478.00 MiB free; 4.15 GiB reserved in total by PyTorch)`, and `GPU 0 has a total capacity of 9.68 GiB of
// which 95.75 MiB is free. ...`. Nothing for a line that is no such message.
// Source: c10/cuda/CUDACachingAllocator.cpp of those versions.
std::optional<AllocatorMessage> read_allocator_message(std::string_view line);

// Reserved and not allocated; nothing where the message does not say it.
std::optional<Bytes> idle_reserve(const AllocatorMessage& message);

// What of the device is in use and not by this process: from its own figure where the message has one, else
// total - free - reserved - half a GiB for the context. Not negative; nothing where the message does not say.
std::optional<Bytes> held_by_others(const AllocatorMessage& message);

}  // namespace shardlab
