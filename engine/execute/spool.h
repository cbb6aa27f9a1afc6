// The file that each rank of a real run writes while it runs: one JSON value a line, so that what a crash
// leaves can be read.
//
// Lines: a header, then a line per finished step with everything measured in it, then an end or an error,
// before which the figures of an exhausted memory may stand. A
// step is written after the step, outside the time that is measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/trace/device_memory.h"
#include "engine/trace/operator_time.h"
#include "engine/trace/out_of_memory.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

struct SpoolHeader {
  int rank = 0;
  int world = 1;
  std::string run_hash;  // empty: of a job of probes
  std::string host;      // ranks with the same host share a clock
  std::string machine;   // processor or GPU model
  std::map<std::string, std::string> versions;
  std::int64_t steps = 0;  // that the run intends to make
  friend bool operator==(const SpoolHeader&, const SpoolHeader&) = default;
};

struct SpoolStep {
  std::int64_t step = 0;
  Nanoseconds aligned;              // this host's clock when the rank left the barrier before the step
  Nanoseconds began;                // the same clock at the step's first instruction
  std::optional<double> mean_loss;  // over all ranks
  RankTrace trace;
  friend bool operator==(const SpoolStep&, const SpoolStep&) = default;
};

struct SpoolEnd {
  Bytes communication_workspace;
  std::optional<DeviceMemory> device_memory = {};  // of a GPU
  std::vector<OperatorTime> operators = {};        // of the measured steps
  friend bool operator==(const SpoolEnd&, const SpoolEnd&) = default;
};

struct Spool {
  std::optional<SpoolHeader> header;
  std::vector<SpoolStep> steps;
  std::optional<SpoolEnd> end;               // absent: the rank did not finish
  std::optional<Error> error;                // what it reported
  std::optional<OutOfMemory> out_of_memory;  // and, when that was the reason, the figures
  bool truncated = false;                    // the last line was cut off and is not in here
};

// "rank-3.spool" in the folder of the run.
std::filesystem::path spool_path(const std::filesystem::path& run_directory, int rank);

class SpoolWriter {
 public:
  // Makes the file, or empties it.
  static Result<SpoolWriter> create(const std::filesystem::path& path);
  SpoolWriter(SpoolWriter&& other) noexcept;
  SpoolWriter& operator=(SpoolWriter&&) = delete;
  ~SpoolWriter();

  // Each writes one whole line. run_failed when it cannot (a full disk).
  Status write(const SpoolHeader& header);
  Status write(const SpoolStep& step);
  Status write(const SpoolEnd& end);
  Status write(const OutOfMemory& out_of_memory);
  Status write(const Error& error);

 private:
  SpoolWriter(int descriptor, std::filesystem::path path) : descriptor_(descriptor), path_(std::move(path)) {}
  Status write_line(std::string_view line);

  int descriptor_;
  std::filesystem::path path_;
};

// Reads what is there, a line at a time. bad_input for a file that is missing or no ordinary one, and for a
// damaged line before the last; not_possible (ErrorCode::unreadable) where it is there and cannot be read.
Result<Spool> read_spool(const std::filesystem::path& path);

}  // namespace shardlab
