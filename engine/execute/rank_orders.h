// Files through which rank 0 of a launcher's processes (torchrun, srun, mpirun) tells the others what to do
// next: jobs, one after the other, and with which code to end. They lie in a folder that all of them see.
//
//   here-3     made by rank 3 when it starts; what stands in it no other process ever wrote
//   session    made by rank 0: what it read in them, so that each knows that these orders are for it
//   order-2    the second order
//   done-2-3   what rank 3 says after it
//
// Files of processes that died are no harm: rank 0 removes what it finds before it begins, a rank that waits
// writes its name again, and a session with another name in its place is not its own.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/units.h"

namespace shardlab {

struct RankOrder {
  std::filesystem::path job;  // run it (rank_job.h); empty: end
  int exit_code = 0;          // with which to end
  friend bool operator==(const RankOrder&, const RankOrder&) = default;
};

// What a rank says when its part of a job is over.
struct RankReport {
  std::string host;  // host_identity()
  Nanoseconds own;   // processor time of its process and the ended children, from its start
  std::optional<Error> error;
};

// Rank 0's side.
class OrderWriter {
 public:
  // Empties the folder of what earlier sessions left, and makes it. Errors of make_run_folder() and
  // empty_run_folder() (run_folder.h).
  static Result<OrderWriter> create(const std::filesystem::path& folder, int world);

  // Returns when all others are there: those that are missing after `patience`, ascending.
  std::vector<int> gather(std::chrono::milliseconds patience);

  // The next order. run_failed when it cannot be written.
  Status write(const RankOrder& order);

  // The reports on the last order that are there within `patience`, by rank; rank 0 has none.
  std::vector<std::optional<RankReport>> reports(std::chrono::milliseconds patience) const;

  // Removes the files once the others have seen the last order, or after `patience`, and the folder when
  // nothing else is in it.
  void clean_up(std::chrono::milliseconds patience) const;

 private:
  OrderWriter(std::filesystem::path folder, int world) : folder_(std::move(folder)), world_(world) {}

  std::filesystem::path folder_;
  int world_;
  int orders_ = 0;
};

// The side of another rank.
class OrderReader {
 public:
  OrderReader(std::filesystem::path folder, int rank);

  // The next order, within `patience`; absent when there is none by then.
  std::optional<RankOrder> next(std::chrono::milliseconds patience);

  // After the job of the last order. run_failed when it cannot be written.
  Status report(const RankReport& report) const;

  // After the order to end: nothing of this rank is left.
  void leave() const;

 private:
  bool is_accepted() const;

  std::filesystem::path folder_;
  int rank_;
  std::string name_;  // of this process: like no other's
  int orders_ = 0;
};

}  // namespace shardlab
