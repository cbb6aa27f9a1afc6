// A trace that torch.profiler wrote (Kineto's Chrome trace), as it stands in the file.
//
// Source: the files that PyTorch 1.8 to 2.11 write (torch/profiler, third_party/kineto output_json.cpp): an
// object whose list `traceEvents` holds complete events (ph X) of operators on host threads (cat cpu_op), of
// annotations (user_annotation), of launches (cuda_runtime, cuda_driver) and of work on device streams
// (kernel, gpu_memcpy, gpu_memset), and instants "[memory]" of the allocator. Times there are microseconds.
// Collectives of Gloo are annotations "gloo:all_gather" on threads of its own (ProcessGroupGloo.cpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/units.h"

namespace shardlab {

enum class ProfilerCategory : std::uint8_t { operation, annotation, launch, kernel, copy };

constexpr bool is_on_device(ProfilerCategory category) {
  return category == ProfilerCategory::kernel || category == ProfilerCategory::copy;
}

// What PyTorch says of a collective: of NCCL's beside the kernel; of Gloo's beside the annotation, with the
// shapes of what goes in where the profiler recorded shapes. Fields that it does not say are 0.
struct ProfilerCollective {
  std::string name;   // "_allgather_base"
  std::string dtype;  // "BFloat16"; of Gloo C++'s name, "c10::BFloat16"
  std::int64_t elements_in = 0;
  std::int64_t elements_out = 0;
  std::int64_t group_size = 0;
};

struct ProfilerEvent {
  ProfilerCategory category = ProfilerCategory::operation;
  std::uint32_t name = 0;    // in ProfilerTrace::names
  std::uint32_t thread = 0;  // in ProfilerTrace::threads
  Nanoseconds start;         // on the profiler's clock
  Nanoseconds end;
  std::optional<std::int64_t> correlation{};  // the number that a launch shares with what it launched
  std::optional<std::uint32_t> collective{};  // in ProfilerTrace::collectives
};

// A thread of the host, or a stream of a device: `process` is then the device.
struct ProfilerThread {
  std::string process;
  std::string thread;
};

// The allocator took or gave back memory.
struct ProfilerMemory {
  Nanoseconds at;
  Bytes allocated;  // after it
  bool on_device = false;
};

struct ProfilerTrace {
  std::vector<std::string> names;
  std::vector<ProfilerThread> threads;
  std::vector<ProfilerEvent> events;  // in the order of the file
  std::vector<ProfilerCollective> collectives;
  std::vector<ProfilerMemory> memory;
  std::vector<std::string>
      functions;            // of recorded stacks, those that say who trains (seen_marks.h); each once
  std::optional<int> rank;  // of distributedInfo
  std::optional<int> world_size;
  std::optional<int> process_groups;  // likewise; with one, every collective is among all ranks
  std::string device;                 // the first one's name; empty: none
  std::optional<Bytes> device_memory;
  std::optional<Nanoseconds> base_time;  // what the file's times are added to; equal on one host's clock
  bool written_by_shardlab = false;      // it is one of our own (formats/chrome_trace.h)
};

// Reads .json and, by its content, gzip. Errors are bad_input and say what is wrong with the file:
// unreadable, empty, damaged, cut off, no JSON, no trace, more than k_longest_trace.
Result<ProfilerTrace> read_profiler_trace(const std::filesystem::path& file);

// The same from the text of a JSON file; `where` stands for it in errors.
Result<ProfilerTrace> parse_profiler_trace(std::string_view text, const std::string& where);

// Bytes of the unpacked text: a longer file is refused before it fills the memory.
inline constexpr std::int64_t k_longest_trace = std::int64_t{2} << 30;

}  // namespace shardlab
