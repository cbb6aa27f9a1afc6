// Files that somebody names, opened so that they can do no harm: never waited for, ordinary ones alone, and
// of a size that is known before anything is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace shardlab {

// What a file is for, and the most bytes that such a file has.
struct FileKind {
  std::string_view name;  // "scenario file"
  std::int64_t most;
};

inline constexpr FileKind k_scenario_file{"scenario file", std::int64_t{256} << 10};
inline constexpr FileKind k_search_file{"search file", std::int64_t{256} << 10};
inline constexpr FileKind k_model_config_file{"model configuration", std::int64_t{16} << 20};
inline constexpr FileKind k_expert_load_file{"load of experts", std::int64_t{256} << 20};
inline constexpr FileKind k_weights_index_file{"index of weights", std::int64_t{256} << 20};
inline constexpr FileKind k_record_file_kind{"record of a training", std::int64_t{256} << 20};
inline constexpr FileKind k_memory_history_file{"memory history", std::int64_t{8} << 30};
inline constexpr FileKind k_allocations_file{"list of allocations", std::int64_t{256} << 20};
inline constexpr FileKind k_flight_dump_file{"dump of a flight recorder", std::int64_t{256} << 20};
inline constexpr FileKind k_program_file{"source of a program", std::int64_t{4} << 20};
inline constexpr FileKind k_baseline_file{"baseline", std::int64_t{16} << 20};
inline constexpr FileKind k_table_file{"table", std::int64_t{64} << 20};
inline constexpr FileKind k_rank_job_file{"job of a rank", std::int64_t{16} << 20};
inline constexpr FileKind k_spool_file{"record of a rank", std::int64_t{64} << 30};
inline constexpr FileKind k_probe_results_file{"list of measurements", std::int64_t{256} << 20};
inline constexpr FileKind k_result_file{"file of results", std::int64_t{1} << 30};
inline constexpr FileKind k_description_file{"description", std::int64_t{16} << 20};

// An open file; closed with the object. Movable.
class InputFile {
 public:
  // bad_input for what is missing, may not be opened, or is no ordinary file: a folder, a pipe, a device.
  static Result<InputFile> open(const std::filesystem::path& file, std::string_view kind);
  // Whatever it is: who names it knows that it is waited for. Its size is not known.
  static Result<InputFile> standard_input();

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  int descriptor() const { return descriptor_; }
  std::int64_t size() const { return size_; }  // when it was opened
  // Gives the descriptor to the caller, who closes it.
  int release();

 private:
  InputFile(int descriptor, std::int64_t size) : descriptor_(descriptor), size_(size) {}
  int descriptor_;
  std::int64_t size_;
};

// What is said of a file that has more bytes than its kind.
tl::unexpected<Error> larger_than_kind(const Place& place, const FileKind& kind);

// All bytes of a file. Errors of InputFile::open(), and bad_input for one that is larger than its kind, or
// cannot be read (then ErrorCode::unreadable, as where it is there and cannot be opened).
Result<std::string> read_input_file(const std::filesystem::path& file, const FileKind& kind);

// As many bytes as the kind has at most from the beginning, or the end, of a file of any size. Errors of
// InputFile::open(), and bad_input (ErrorCode::unreadable) for one that cannot be read.
Result<std::string> read_beginning(const std::filesystem::path& file, const FileKind& kind);
Result<std::string> read_end(const std::filesystem::path& file, const FileKind& kind);

// The bytes that come next, as many as are there and find room: 0 at the end. bad_input
// (ErrorCode::unreadable) at `place` where they cannot be read.
Result<std::size_t> read_piece(const InputFile& input, std::span<char> room, const Place& place);

// Moves on to where the file has bytes on the disk. A hole reads as zeros, costs nothing and may be terabytes
// long: whoever passes over zeros need not read them.
void skip_hole(const InputFile& input);

}  // namespace shardlab
