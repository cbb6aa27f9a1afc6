// What a launcher says of the processes that failed. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/doctor/log/log_facts.h"

namespace shardlab {

// Reads the summary of torchrun's ChildFailedError (the root cause and, before it, the failures that came
// later), and the one line that launchers write of a process: torchrun's `failed (exitcode: 1) local_rank: 0
// (pid: 7) of binary`, DeepSpeed's `exits with return code = -11`, Composer's `Rank 0 crashed with exit code
// 1`, `exited with exit code 1` of srun and Kubernetes, mpirun's `exited on signal 11`,
// `process 1 terminated with signal SIGABRT` of torch.multiprocessing, `returned non-zero exit status 1` of
// subprocess. A ChildFailedError without a summary is a failure without a code.
class LauncherReport {
 public:
  // A line without its prefixes. True where it speaks of a process that failed after another one: a launcher
  // ends those that are left, so that nothing in it is a cause.
  bool take(const SeenLine& kept, std::string_view text);

  const std::optional<FirstFailure>& first() const { return first_; }

 private:
  enum class Part : std::uint8_t { none, head, later_failures, root_cause };

  void enter(std::string_view text);
  void take_root_cause(const SeenLine& kept, std::string_view text);

  Part part_ = Part::none;
  bool from_summary_ = false;  // first_ is the summary's, which knows ranks of all nodes
  std::optional<FirstFailure> first_;
};

}  // namespace shardlab
