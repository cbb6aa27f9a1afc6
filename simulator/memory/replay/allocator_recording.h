// What a program asked of an allocator, call by call, as it was read from a file.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/pickle/pickle_source.h"
#include "engine/base/result.h"
#include "engine/base/words.h"
#include "simulator/memory/caching_allocator/allocator_types.h"

namespace shardlab {

enum class RecordedKind : std::uint8_t {
  malloc,
  failed_malloc,       // the recorded program was out of memory here
  free,                // at once, or when the streams that were recorded on it have come so far
  free_in_use,         // and some other stream, of which nothing else is known, still uses it
  completed,           // of a block of free_in_use: that stream has come so far
  completed_and_seen,  // and the allocator has noticed
  record_stream,
  complete_events,  // `count` more events of the stream are done
  empty_cache,
};

struct RecordedCall {
  RecordedKind kind = RecordedKind::malloc;
  std::uint32_t block = 0;  // of mallocs, frees, record_stream, completed: a number of the allocation
  Bytes size;               // of mallocs
  AllocatorStream stream;   // of mallocs, record_stream, complete_events
  std::int64_t count = 0;
  std::uint32_t origin = 0;    // of mallocs: a place in the recording's list
  std::int64_t operation = 0;  // its place in the file, from 1; 0: not in the file, made before it begins
};

enum class LimitSource : std::uint8_t {
  none,      // the file says nothing
  given,     // by who asks for the replay
  stated,    // in the file
  failure,   // what was reserved and what was free when a recorded allocation failed
  releases,  // the largest that explains why cached memory was released
};
template <>
inline constexpr auto k_words<LimitSource> =
    std::to_array<Word<LimitSource>>({{LimitSource::none, "none"},
                                      {LimitSource::given, "given"},
                                      {LimitSource::stated, "stated"},
                                      {LimitSource::failure, "failure"},
                                      {LimitSource::releases, "releases"}});

struct RecordedPlace {
  Bytes size;
  DeviceAddress address;
};

struct AllocatorRecording {
  std::vector<RecordedCall> calls;
  std::uint32_t blocks = 0;     // their numbers are below it
  std::int64_t operations = 0;  // in the file
  std::string options;          // the text of PYTORCH_ALLOC_CONF it was recorded with
  std::optional<Bytes> limit;   // what the driver had to give
  LimitSource limit_source = LimitSource::none;
  std::vector<RecordedPlace> places;  // of the segments in the order in which the driver gave them
  std::int64_t earlier_blocks = 0;    // allocated before the recording began; placed anew, at its start
  Bytes earlier_bytes;
  // Who asked for blocks, each once; the first is empty, for those of which no stack was noted. No entry at
  // all where the file has no place for stacks.
  std::vector<std::string> origins;
};

// All fail with bad_input, at the operation or event that is wrong.

// {"ops": [...]} (docs/allocator.md).
Result<AllocatorRecording> read_operations(std::string_view json);

// The snapshot that torch.cuda.memory._dump_snapshot() wrote, of one device: the given one, or the only one
// that has a history; bad_input at --device when there is no such device, or several and none is given.
Result<AllocatorRecording> read_memory_history(PickleSource pickle, std::optional<int> device = {});

// Either, by how it begins.
Result<AllocatorRecording> read_recording(std::string content, std::optional<int> device = {});

// Either, of a file. Snapshots may be large: they are read piece by piece, and one that begins as none does
// is not read on. Errors besides: those of read_input_file(), with the file as their place.
Result<AllocatorRecording> read_recording_file(const std::filesystem::path& file,
                                               std::optional<int> device = {});

}  // namespace shardlab
